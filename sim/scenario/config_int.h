/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inside of a config: the hardware and the model it names, what of their
 * memory is left for KV, and the forms its step time may have. A form is a
 * member of the config ("curve", "linear", "roofline") and turns it into the
 * one curve that a replica runs by.
 */
#ifndef WEIR_SCENARIO_CONFIG_INT_H
#define WEIR_SCENARIO_CONFIG_INT_H

#include "scenario/scenario_int.h"

/* One GPU; rates a second. */
struct config_gpu {
	double memory_bytes;
	double bytes_s;
	double nvlink_bytes_s; /* each way; 0: none */
	double bf16_flops;
	double fp8_flops; /* 0: has none */
	double fp4_flops;
};

/* A dense decoder, by the names of a Hugging Face config.json. */
struct config_model {
	double hidden;
	double layers;
	double heads;
	double kv_heads;
	double head_dim;
	double intermediate;
	double vocabulary;
	double parameters;
};

/* What a config runs on; `known` when GPU and model were both found. */
struct config_hardware {
	bool known;
	struct config_gpu gpu;
	uint32_t gpus;
	double usable_bytes; /* of a GPU, without what else it holds */
	struct config_model model;
	double weight_bytes; /* of one weight */
	double kv_bytes;     /* of one number of the KV cache */
	double peak_flops;   /* of a GPU at that precision */
};

/*
 * Reads what the config names. Without `needed` a config that names no GPU
 * or no model is fine, and not known.
 */
void hardware_read(struct cursor *config, bool needed,
                   struct config_hardware *out);
/* Refuses weights that do not fit. */
void hardware_fit(struct cursor *config, const struct config_hardware *hw);
/* KV blocks that the memory left holds; an error when it holds none. */
uint64_t hardware_kv_blocks(struct cursor *config,
                            const struct config_hardware *hw,
                            uint32_t block_tokens);

/* Finds and reads GPUs in gpus.json, models in ml_*.json or config.json. */
void hardware_gpu(struct cursor *type, struct config_gpu *out);
void hardware_model(struct cursor *name, bool hugging_face,
                    struct config_model *out);

/* Reads `draft`; c may be NULL, then there is none. */
void draft_read(struct cursor *c, struct replica_draft *out);

/* Microseconds as ticks, rounded to the nearest. */
int64_t form_ticks(double us);

struct config_form {
	const char *name; /* the member of the config */
	bool needs_hardware;
	/* c is the member; what it says becomes `out`. */
	void (*compile)(struct cursor *c, const struct config_hardware *hw,
	                struct replica_curve *out);
};

extern const struct config_form form_curve;
extern const struct config_form form_linear;
extern const struct config_form form_roofline;

#endif
