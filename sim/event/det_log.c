/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "event/event.h"

/*
 * ln x for x = 2^k z, where z lies between 0.6973 and twice that. A table
 * gives a short v near 1/z, so that
 *
 *	ln x = k ln 2 - ln v + ln(1 + r),  r = z v - 1,  |r| < 0.0043
 *
 * The upper 32 bits of z, v, and the upper parts of ln 2 and ln v lie on so
 * coarse a grid (2^-42) that their products and sums are exact; all that is
 * rounded is small beside the result, and the one last addition. The
 * interval around 1 has v = 1, so that nothing cancels there.
 */
#define FIRST_BITS UINT64_C(0x3fe6500000000000)
#define INTERVAL_BITS 45
#define LOW_BITS UINT64_C(0x1fffff)

/* ln 2, to the nearest 2^-42, and the rest. */
static const double ln2_hi = 0x1.62e42fefa38p-1;
static const double ln2_lo = 0x1.ef35793c7673p-45;

/*
 * v is the inverse of the interval's middle to the nearest 2^-10 (1 for the
 * interval that holds 1); hi is -ln v to the nearest 2^-42, lo the rest.
 */
static const struct {
	double v;
	double hi;
	double lo;
} table[128] = {
	{0x1.6ep+0, -0x1.6e08eaa2bap-2, -0x1.e38c139318d71p-46},
	{0x1.6cp+0, -0x1.686c81e9b1p-2, -0x1.2bb110af84054p-44},
	{0x1.6ap+0, -0x1.62c82f2b9cp-2, -0x1.e54bdbd7c8a98p-44},
	{0x1.68p+0, -0x1.5d1bdbf581p-2, 0x1.8d6bdc9c7c238p-44},
	{0x1.66p+0, -0x1.5767717456p-2, 0x1.64ead9524d7cap-44},
	{0x1.644p+0, -0x1.5262deeb99p-2, 0x1.e1b9f70894a01p-44},
	{0x1.624p+0, -0x1.4c9f09e153p-2, 0x1.e1dde70e02dep-45},
	{0x1.604p+0, -0x1.46d2d9c28p-2, -0x1.59b275f67f75ap-44},
	{0x1.5e8p+0, -0x1.41b941cce1p-2, 0x1.0469013e43fc9p-44},
	{0x1.5c8p+0, -0x1.3bdd24eb15p-2, 0x1.257b4970e6ed9p-44},
	{0x1.5acp+0, -0x1.36b5776bc1p-2, -0x1.169785a9c223fp-46},
	{0x1.59p+0, -0x1.31871c9544p-2, -0x1.84fab94cecfd9p-46},
	{0x1.57p+0, -0x1.2b9303ab8ap-2, 0x1.6db12d6bfb0a5p-45},
	{0x1.554p+0, -0x1.26561f1338p-2, -0x1.8b48866faa45fp-44},
	{0x1.538p+0, -0x1.2112559861p-2, -0x1.82e78ba2950c4p-44},
	{0x1.51cp+0, -0x1.1bc794fd1dp-2, 0x1.ccf0c747ba7bep-44},
	{0x1.5p+0, -0x1.1675cababap-2, -0x1.8380e731f55c4p-44},
	{0x1.4e4p+0, -0x1.111ce4003fp-2, 0x1.b3237096b4b6bp-46},
	{0x1.4ccp+0, -0x1.0c81d4860bp-2, 0x1.e5bcf401d1731p-44},
	{0x1.4bp+0, -0x1.071b85fcd6p-2, 0x1.bcb8ba3e01a11p-44},
	{0x1.494p+0, -0x1.01ade3913ap-2, 0x1.08930ccdc1521p-46},
	{0x1.47cp+0, -0x1.fa01c3bb58p-3, 0x1.a1f71fae1d786p-46},
	{0x1.46p+0, -0x1.ef0adcbdc6p-3, 0x1.b26b79c86af24p-45},
	{0x1.448p+0, -0x1.e598ed5a88p-3, 0x1.d134bcf1e98a1p-47},
	{0x1.42cp+0, -0x1.da85d620cep-3, -0x1.40194c16cc7ecp-45},
	{0x1.414p+0, -0x1.d0fb7f2256p-3, 0x1.af52b20633b29p-47},
	{0x1.3fcp+0, -0x1.c765b9e4d6p-3, -0x1.1ab6b36976f6cp-44},
	{0x1.3e4p+0, -0x1.bdc46ae344p-3, -0x1.625b4023d6505p-44},
	{0x1.3c8p+0, -0x1.b2797ee464p-3, 0x1.be88a906d00a9p-44},
	{0x1.3bp+0, -0x1.a8becfc882p-3, -0x1.e3185cf21b9cfp-44},
	{0x1.398p+0, -0x1.9ef83d276ap-3, 0x1.730b7b3f9cep-45},
	{0x1.38p+0, -0x1.9525a9cf46p-3, 0x1.297137d9f158fp-44},
	{0x1.368p+0, -0x1.8b46f82236p-3, -0x1.2d9f2102dd7c9p-46},
	{0x1.354p+0, -0x1.83040c91bcp-3, -0x1.e5b71c6e66f32p-44},
	{0x1.33cp+0, -0x1.790ed4ee26p-3, -0x1.99bbd4e7746f6p-46},
	{0x1.324p+0, -0x1.6f0d28ae56p-3, -0x1.69737c93373dap-44},
	{0x1.30cp+0, -0x1.64fee8826p-3, 0x1.da40d759dded6p-46},
	{0x1.2f8p+0, -0x1.5c94007598p-3, 0x1.a8d948cd23322p-44},
	{0x1.2ep+0, -0x1.526e5e3a1cp-3, 0x1.790ba37fc5238p-44},
	{0x1.2c8p+0, -0x1.483bccce6ep-3, -0x1.eea52723f6369p-46},
	{0x1.2b4p+0, -0x1.3fb25a5952p-3, -0x1.195be6b358ff7p-44},
	{0x1.2ap+0, -0x1.371fc201e8p-3, -0x1.ee8779b2d8abcp-44},
	{0x1.288p+0, -0x1.2cca0f5f6p-3, 0x1.b5ef191aff12p-44},
	{0x1.274p+0, -0x1.2423113ba6p-3, 0x1.e3a0078ee9d9cp-44},
	{0x1.26p+0, -0x1.1b72ad52f6p-3, -0x1.e80a41811a396p-45},
	{0x1.248p+0, -0x1.10f8e42254p-3, 0x1.93b3843396307p-45},
	{0x1.234p+0, -0x1.08338affa2p-3, -0x1.0533cac823e27p-44},
	{0x1.22p+0, -0x1.fec9131dcp-4, 0x1.54555d1ae6607p-44},
	{0x1.20cp+0, -0x1.ed1794e838p-4, 0x1.fd143749d0484p-46},
	{0x1.1f8p+0, -0x1.db5270187cp-4, -0x1.9277856ae181fp-44},
	{0x1.1e4p+0, -0x1.c97978d79p-4, 0x1.6e010977d1884p-44},
	{0x1.1dp+0, -0x1.b78c82bb1p-4, 0x1.25ef7bc3987e7p-44},
	{0x1.1bcp+0, -0x1.a58b60c2b4p-4, 0x1.cdc735c5c9f2ap-44},
	{0x1.1a8p+0, -0x1.9375e55594p-4, -0x1.eddc37380c364p-44},
	{0x1.194p+0, -0x1.814be23f8cp-4, -0x1.b2381da82fdfdp-51},
	{0x1.18p+0, -0x1.6f0d28ae58p-4, 0x1.4b4641b664613p-44},
	{0x1.17p+0, -0x1.60658a9374p-4, -0x1.0c3b1dee9c4f8p-44},
	{0x1.15cp+0, -0x1.4e01108a34p-4, -0x1.ae5cfdf2c5ae5p-44},
	{0x1.148p+0, -0x1.3b87598b1cp-4, 0x1.2241594aca313p-45},
	{0x1.134p+0, -0x1.28f83450ecp-4, -0x1.a8d75aa119769p-44},
	{0x1.124p+0, -0x1.1a0fba1bf8p-4, -0x1.4a3fcc319d6dcp-45},
	{0x1.11p+0, -0x1.075983599p-4, 0x1.b8ecfe4b59987p-44},
	{0x1.1p+0, -0x1.f0a30c0118p-5, 0x1.d599e83368e91p-45},
	{0x1.0ecp+0, -0x1.cae72fb96p-5, 0x1.efabf2025b1bep-44},
	{0x1.0dcp+0, -0x1.ac9722171p-5, -0x1.f8d3ef013222cp-45},
	{0x1.0c8p+0, -0x1.868a83084p-5, 0x1.2623a134ac693p-46},
	{0x1.0b8p+0, -0x1.67f94f0948p-5, -0x1.ecc1f3e7e4ed7p-44},
	{0x1.0a8p+0, -0x1.494acc34d8p-5, -0x1.11c78a56fd247p-45},
	{0x1.094p+0, -0x1.22c71bcea8p-5, -0x1.d2818f87f888fp-48},
	{0x1.084p+0, -0x1.03d5d85e7p-5, -0x1.f778960ed29cfp-44},
	{0x1.074p+0, -0x1.c98d18d01p-6, 0x1.bf6150589df0fp-45},
	{0x1.064p+0, -0x1.8b31facaap-6, 0x1.3fc78a96e4964p-44},
	{0x1.05p+0, -0x1.3cea44347p-6, 0x1.6a2c432d6a40bp-44},
	{0x1.04p+0, -0x1.fc0a8b0fcp-7, -0x1.f1e7cf6d3a69cp-50},
	{0x1.03p+0, -0x1.7dc475f82p-7, 0x1.eb1245b5da1f5p-44},
	{0x1.02p+0, -0x1.fe02a6b1p-8, -0x1.9e23f0dda40e4p-46},
	{0x1.01p+0, -0x1.ff00aa2bp-9, -0x1.0bc04a086b56ap-45},
	{0x1p+0, 0.0, 0.0},
	{0x1.fcp-1, 0x1.010157588p-7, 0x1.bce251998b506p-44},
	{0x1.f8p-1, 0x1.020565893p-6, 0x1.611d27c8e8417p-44},
	{0x1.f48p-1, 0x1.74321d3dp-6, 0x1.b4a690fe94778p-48},
	{0x1.f08p-1, 0x1.f7a9b1678p-6, 0x1.42ad9271be7d7p-45},
	{0x1.edp-1, 0x1.35c8bfaa1p-5, 0x1.8357d5ef9eb35p-44},
	{0x1.e9p-1, 0x1.788595a358p-5, -0x1.08b0d083b3a4cp-46},
	{0x1.e58p-1, 0x1.b35dd9b588p-5, 0x1.d5674d6cf558ep-44},
	{0x1.e2p-1, 0x1.eea31c0068p-5, 0x1.c3dd83606d891p-44},
	{0x1.de8p-1, 0x1.152b799bb4p-4, -0x1.9bb2907030829p-47},
	{0x1.dbp-1, 0x1.333d7f8184p-4, -0x1.692b6a81b8848p-49},
	{0x1.d78p-1, 0x1.518874226p-4, 0x1.30a1d96258b3ep-44},
	{0x1.d4p-1, 0x1.700d30aeacp-4, 0x1.c1e8da99ded32p-49},
	{0x1.d1p-1, 0x1.8a6477a91cp-4, 0x1.c28c0af9bd6dfp-44},
	{0x1.cd8p-1, 0x1.a956d3ecacp-4, 0x1.e63794c02c4afp-44},
	{0x1.ca8p-1, 0x1.c40d6425a4p-4, 0x1.cb1121d1930ddp-44},
	{0x1.c7p-1, 0x1.e3707ee304p-4, 0x1.0f684e6766abdp-45},
	{0x1.c4p-1, 0x1.fe89139dbcp-4, 0x1.56594d82f7a82p-44},
	{0x1.c1p-1, 0x1.0ce7ecdcccp-3, 0x1.4652dabff5447p-46},
	{0x1.bep-1, 0x1.1aa2b7e24p-3, -0x1.1ac38dde3b366p-44},
	{0x1.bbp-1, 0x1.28753bc11ap-3, 0x1.7494e359302e6p-44},
	{0x1.b8p-1, 0x1.365fcb015ap-3, -0x1.fd3a0afb9691bp-44},
	{0x1.b5p-1, 0x1.4462b9dc9cp-3, -0x1.84858a711b062p-44},
	{0x1.b2p-1, 0x1.527e5e4a1cp-3, -0x1.4e60b8d4b411dp-44},
	{0x1.afp-1, 0x1.60b3100b0ap-3, -0x1.71456c988f814p-44},
	{0x1.ac8p-1, 0x1.6c9d07d204p-3, -0x1.c73fafd9b2dcap-50},
	{0x1.a98p-1, 0x1.7b00916516p-3, -0x1.ae75fcb067e57p-44},
	{0x1.a7p-1, 0x1.871213750ep-3, 0x1.328eb42f9af75p-44},
	{0x1.a4p-1, 0x1.95a5adcf7p-3, 0x1.7f22858a0ff6fp-47},
	{0x1.a18p-1, 0x1.a1dfc40f1cp-3, -0x1.01e0f004f3781p-44},
	{0x1.9fp-1, 0x1.ae2ca6f672p-3, 0x1.7a8d5ae54f55p-44},
	{0x1.9cp-1, 0x1.bd087383bep-3, -0x1.d4bc4595412b6p-45},
	{0x1.998p-1, 0x1.c97f8079d4p-3, 0x1.3b161a8c6e6c5p-45},
	{0x1.97p-1, 0x1.d60a17f904p-3, -0x1.5d6e06fc20d39p-44},
	{0x1.948p-1, 0x1.e2a877a6b2p-3, 0x1.823817787081ap-44},
	{0x1.92p-1, 0x1.ef5ade4ddp-3, -0x1.a211565bb8e11p-51},
	{0x1.8f8p-1, 0x1.fc218be62p-3, 0x1.4bba46f1cf6ap-44},
	{0x1.8dp-1, 0x1.047e60cde8p-2, 0x1.dbdf10d397f3cp-45},
	{0x1.8bp-1, 0x1.09aa572e6cp-2, 0x1.b50a1e1734342p-44},
	{0x1.888p-1, 0x1.102ac0a35dp-2, -0x1.f1fbddfdfd686p-45},
	{0x1.86p-1, 0x1.16b5ccbadp-2, -0x1.23299042d74bfp-44},
	{0x1.84p-1, 0x1.1bf99635a7p-2, -0x1.1ac89575c2125p-44},
	{0x1.818p-1, 0x1.22981fbef8p-2, -0x1.a1421609580dap-44},
	{0x1.7f8p-1, 0x1.27ebaf58d9p-2, -0x1.b198800b4bda7p-45},
	{0x1.7dp-1, 0x1.2e9e2bce12p-2, 0x1.4300c128d1dc2p-45},
	{0x1.7bp-1, 0x1.3401e12aedp-2, -0x1.17c73556e291dp-44},
	{0x1.788p-1, 0x1.3ac8ca38e6p-2, -0x1.d0befbc02be4ap-45},
	{0x1.768p-1, 0x1.403d086ceap-2, 0x1.e6ef574487308p-44},
	{0x1.748p-1, 0x1.45b8c0a17ep-2, -0x1.d9120e7d0a853p-47},
	{0x1.728p-1, 0x1.4b3c077268p-2, -0x1.65b4681052b9fp-46},
	{0x1.7p-1, 0x1.522ae0738ap-2, 0x1.ebe708164c759p-45},
};

/* ln(1 + r) - r by its series: the ninth term is below 2^-64 r. */
static double tail(double r)
{
	double r2 = r * r;
	double high =
		(1.0 / 7 - r * (1.0 / 8)) * r2 + (1.0 / 5 - r * (1.0 / 6));

	return r2 * (-0.5 + r * ((1.0 / 3 - r * (1.0 / 4)) + r2 * high));
}

double det_log(double x)
{
	uint64_t bits, offset;
	double k, z, z_hi, r_hi, r_lo, hi, lo, sum;
	unsigned i;

	static_assert(sizeof bits == sizeof x, "an IEEE double");
	if (!(x > 0) || !isfinite(x)) {
		if (x > 0 || isnan(x))
			return x;
		return x < 0 ? NAN : -INFINITY;
	}
	k = 0;
	if (x < 0x1p-1022) {
		x *= 0x1p54;
		k = -54;
	}
	memcpy(&bits, &x, sizeof bits);
	offset = bits - FIRST_BITS;
	i = (unsigned)(offset >> INTERVAL_BITS) % 128;
	k += (double)((int64_t)offset >> 52);
	bits -= offset & UINT64_C(0xfff0000000000000);
	memcpy(&z, &bits, sizeof z);
	bits &= ~LOW_BITS;
	memcpy(&z_hi, &bits, sizeof z_hi);
	r_hi = z_hi * table[i].v - 1;
	r_lo = (z - z_hi) * table[i].v;
	hi = k * ln2_hi + table[i].hi + r_hi;
	lo = (k * ln2_lo + table[i].lo) + tail(r_hi + r_lo);
	/* Beside 1 from below, hi and r_lo cancel: keep what is rounded. */
	sum = hi + r_lo;
	return sum + (((hi - sum) + r_lo) + lo);
}
