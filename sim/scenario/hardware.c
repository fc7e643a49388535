/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs and models that a config names, and the memory that is left for KV. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenario/config_int.h"

#define GIB 1073741824.0

/*
 * What a serving engine holds of each GPU beside weights and KV: activations
 * of a dense model 5.5 GiB, the rest 0.15 GiB on one GPU and 0.6 GiB on each
 * of several (inference-sim/inference-sim, its KV memory estimate).
 */
#define ACTIVATIONS_GIB 5.5
#define OTHER_ONE_GIB 0.15
#define OTHER_SEVERAL_GIB 0.6

enum { LIMIT_GPUS = 64 };

static double number(struct cursor *c, const char *name)
{
	struct cursor *member = cursor_member(c, name);

	return member != NULL ? cursor_number(member) : 0;
}

/* Begins to read a file that c names; false with an error at c. */
static bool open_file(struct cursor *c, const char *name, const char *suffix,
                      struct reader *r)
{
	struct reader *from = c->reader;
	const char *file = reader_find(from, name, suffix), *near;

	if (file == NULL) {
		near = reader_near(from, name, suffix);
		cursor_error(
			c,
			"there is no file \"%s%s\" beside it, in the "
			"data directories or in models/%s%s%s",
			name, suffix, near != NULL ? "; did you mean \"" : "",
			near != NULL ? near : "", near != NULL ? "\"?" : "");
		return false;
	}
	reader_init(r, file, from->arena, NULL, from->err);
	return true;
}

/* ---- GPUs -------------------------------------------------------------- */

static void read_gpu(struct cursor *c, struct config_gpu *out)
{
	out->memory_bytes = number(c, "memory_gib") * GIB;
	out->bytes_s = number(c, "bandwidth_tb_s") * 1e12;
	out->nvlink_bytes_s = number(c, "nvlink_gb_s") * 1e9;
	out->bf16_flops = number(c, "bf16_tflops") * 1e12;
	out->fp8_flops = number(c, "fp8_tflops") * 1e12;
	out->fp4_flops = number(c, "fp4_tflops") * 1e12;
	number(c, "price_per_hour");
	cursor_text(cursor_member(c, "source"));
}

/* The GPU of that name, in full or short; false when there is none. */
static bool find_gpu(struct cursor *list, const char *wanted,
                     struct config_gpu *out, const char **names, size_t *n)
{
	size_t items = cursor_items(list, LIMIT_GPUS), i;
	const char *name, *brief;
	struct cursor *item;

	for (i = 0; i < items; i++) {
		item = cursor_item(list, i);
		if (!cursor_object(item, "gpus.types[]"))
			return false;
		name = cursor_text(cursor_member(item, "name"));
		brief = cursor_text(cursor_member(item, "short"));
		if (name == NULL || brief == NULL)
			return false;
		names[(*n)++] = brief;
		if (strcmp(name, wanted) != 0 && strcmp(brief, wanted) != 0)
			continue;
		read_gpu(item, out);
		return true;
	}
	return false;
}

void hardware_gpu(struct cursor *type, struct config_gpu *out)
{
	const char *names[LIMIT_GPUS], *wanted = cursor_text(type);
	char known[256] = "";
	struct cursor *root;
	size_t n = 0, i, at = 0;
	struct reader r;
	json_t *json;
	bool found = false;

	if (wanted == NULL)
		return;
	if (!open_file(type, "gpus", ".json", &r))
		return;
	json = reader_parse(&r, r.file);
	root = json != NULL ? cursor_root(&r, json) : NULL;
	if (cursor_object(root, "gpus"))
		found = find_gpu(cursor_member(root, "types"), wanted, out,
		                 names, &n);
	for (i = 0; i < n && at < sizeof known; i++)
		at += (size_t)snprintf(known + at, sizeof known - at, "%s%s",
		                       i > 0 ? ", " : "", names[i]);
	reader_fini(&r);
	if (!found)
		cursor_error(type,
		             "there is no GPU \"%s\" in gpus.json, which has "
		             "%s",
		             wanted, known);
}

/* ---- models ------------------------------------------------------------ */

/* Members of a config.json that make a model other than a dense decoder. */
static bool refuse_experts(struct cursor *c)
{
	static const char *const experts[] = {"num_local_experts",
	                                      "num_experts", "n_routed_experts",
	                                      "kv_lora_rank"};
	size_t i;

	for (i = 0; i < sizeof experts / sizeof experts[0]; i++)
		if (json_is_number(json_object_get(c->value, experts[i]))) {
			cursor_error(c,
			             "has \"%s\": of models only dense "
			             "decoders with grouped queries are "
			             "counted",
			             experts[i]);
			return true;
		}
	return false;
}

/* Weights by the shape, when the file does not say how many there are. */
static double count_weights(const struct config_model *m, bool tied)
{
	double layer =
		m->hidden * (2 * m->heads + 2 * m->kv_heads) * m->head_dim;

	layer += 3 * m->hidden * m->intermediate + 2 * m->hidden;
	return m->layers * layer + (tied ? 1 : 2) * m->vocabulary * m->hidden +
	       m->hidden;
}

static void read_model(struct cursor *c, struct config_model *out)
{
	struct cursor *tied;

	out->hidden = number(c, "hidden_size");
	out->layers = number(c, "num_hidden_layers");
	out->heads = number(c, "num_attention_heads");
	out->kv_heads = number(c, "num_key_value_heads");
	out->head_dim = number(c, "head_dim");
	out->intermediate = number(c, "intermediate_size");
	out->vocabulary = number(c, "vocab_size");
	out->parameters = number(c, "parameters");
	if (reader_failed(c->reader))
		return;
	if (out->kv_heads <= 0)
		out->kv_heads = out->heads;
	if (out->head_dim <= 0)
		out->head_dim = out->hidden / out->heads;
	tied = cursor_member(c, "tie_word_embeddings");
	if (out->parameters <= 0)
		out->parameters = count_weights(
			out, tied != NULL && json_is_true(tied->value));
}

/* The part of a config.json that describes the language model. */
static struct cursor *language_part(struct cursor *root)
{
	struct cursor *part;
	json_t *text = json_object_get(root->value, "text_config");

	root->object = "model";
	if (!json_is_object(text))
		return root;
	part = cursor_member(root, "text_config");
	part->object = "model";
	return part;
}

/* null says the same as nothing in a config.json. */
static void drop_nulls(json_t *object)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, key, value)
	{
		if (json_is_null(value))
			json_object_del(object, key);
		else if (strcmp(key, "text_config") == 0)
			drop_nulls(value);
	}
}

void hardware_model(struct cursor *name, bool hugging_face,
                    struct config_model *out)
{
	const char *wanted = cursor_text(name);
	struct cursor *root;
	struct reader r;
	json_t *json;

	if (wanted == NULL)
		return;
	if (!open_file(name, wanted, hugging_face ? "" : ".json", &r))
		return;
	json = reader_parse(&r, r.file);
	if (json == NULL)
		goto out;
	root = cursor_root(&r, json);
	if (hugging_face) {
		drop_nulls(json);
		root = language_part(root);
		if (refuse_experts(root))
			goto out;
	} else if (!cursor_object(root, "model")) {
		goto out;
	}
	read_model(root, out);
out:
	reader_fini(&r);
}

/* ---- a config's -------------------------------------------------------- */

/* Bytes of a number of that precision; 0 and an error when it is none. */
static double precision_bytes(struct cursor *c)
{
	static const struct {
		const char *name;
		double bytes;
	} table[] = {{"bf16", 2}, {"fp16", 2}, {"fp8", 1}, {"fp4", 0.5}};
	const char *name = cursor_text(c);
	size_t i;

	if (name == NULL)
		return 0;
	for (i = 0; i < sizeof table / sizeof table[0]; i++)
		if (strcmp(table[i].name, name) == 0)
			return table[i].bytes;
	cursor_error(c, "must be one of bf16, fp16, fp8, fp4, not \"%s\"",
	             name);
	return 0;
}

/* The member that names the model; NULL: none that can be looked up. */
static struct cursor *model_name(struct cursor *config, bool needed,
                                 bool *hugging_face)
{
	struct cursor *hf = cursor_member(config, "hf_config");
	struct cursor *model = cursor_member(config, "model");
	const char *text;

	*hugging_face = hf != NULL;
	if (hf != NULL)
		return hf;
	text = model != NULL ? json_string_value(model->value) : NULL;
	if (text != NULL && (needed || strncmp(text, "ml_", 3) == 0))
		return model;
	return NULL;
}

static void read_precision(struct cursor *config, struct config_hardware *out)
{
	struct cursor *precision = cursor_member(config, "precision");

	if (precision == NULL) {
		cursor_error(config, "needs \"precision\" for what the model "
		                     "takes on its GPUs");
		return;
	}
	out->weight_bytes = precision_bytes(precision);
	out->kv_bytes = precision_bytes(cursor_member(config, "kv_precision"));
	out->peak_flops = out->weight_bytes >= 2   ? out->gpu.bf16_flops
	                  : out->weight_bytes >= 1 ? out->gpu.fp8_flops
	                                           : out->gpu.fp4_flops;
	if (!reader_failed(config->reader) && out->peak_flops <= 0)
		cursor_error(precision,
		             "is none that this GPU computes in, by gpus.json");
}

void hardware_read(struct cursor *config, bool needed,
                   struct config_hardware *out)
{
	struct cursor *gpu = cursor_member(config, "gpu"), *model, *reserved;
	bool hugging_face = false;
	double reserve;

	memset(out, 0, sizeof *out);
	model = model_name(config, needed, &hugging_face);
	if (needed && (gpu == NULL || model == NULL) &&
	    !reader_failed(config->reader))
		cursor_error(config,
		             "needs \"%s\" for a roofline: it follows from "
		             "the GPUs and the model",
		             gpu == NULL ? "gpu" : "model");
	if (gpu == NULL || model == NULL || !cursor_object(gpu, "config.gpu"))
		return;
	out->gpus = (uint32_t)cursor_integer(cursor_member(gpu, "count"));
	hardware_gpu(cursor_member(gpu, "type"), &out->gpu);
	hardware_model(model, hugging_face, &out->model);
	read_precision(config, out);
	reserved = cursor_member(gpu, "reserved_gib");
	reserve = reserved != NULL ? cursor_number(reserved)
	          : out->gpus == 1 ? ACTIVATIONS_GIB + OTHER_ONE_GIB
	                           : ACTIVATIONS_GIB + OTHER_SEVERAL_GIB;
	out->usable_bytes =
		out->gpu.memory_bytes * number(gpu, "memory_utilization") -
		reserve * GIB;
	out->known = !reader_failed(config->reader);
}

/* Bytes that the KV of one token takes, over all GPUs. */
static double token_bytes(const struct config_hardware *hw)
{
	return 2 * hw->model.layers * hw->model.kv_heads * hw->model.head_dim *
	       hw->kv_bytes;
}

void hardware_fit(struct cursor *config, const struct config_hardware *hw)
{
	double weights = hw->model.parameters * hw->weight_bytes;
	char text[32];

	if (!hw->known || weights < hw->usable_bytes * hw->gpus)
		return;
	cursor_error(
		cursor_member(config, "gpu"),
		"does not hold the model: its weights are %.1f GiB, and "
		"%u x %.0f GiB leave %.1f GiB for weights and KV; %s",
		weights / GIB, hw->gpus, hw->gpu.memory_bytes / GIB,
		fmax(hw->usable_bytes, 0) * hw->gpus / GIB,
		hw->usable_bytes > 0
			? (snprintf(text, sizeof text, "at least %.0f GPUs do",
	                            floor(weights / hw->usable_bytes) + 1),
	                   text)
			: "no number of them does");
}

uint64_t hardware_kv_blocks(struct cursor *config,
                            const struct config_hardware *hw,
                            uint32_t block_tokens)
{
	double left, blocks, weights;

	assert(hw->known && block_tokens > 0);
	if (reader_failed(config->reader))
		return 0;
	weights = hw->model.parameters * hw->weight_bytes;
	left = hw->usable_bytes * hw->gpus - weights;
	blocks = floor(left / (token_bytes(hw) * block_tokens));
	if (blocks >= 1)
		return (uint64_t)blocks;
	cursor_error(cursor_member(config, "gpu"),
	             "holds the model's weights (%.1f GiB) and not one block "
	             "of KV beside them: %.3f GiB are left",
	             weights / GIB, left / GIB);
	return 0;
}
