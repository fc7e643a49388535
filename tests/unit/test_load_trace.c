/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of traces, right and wrong rows, and their replay. */
#include <unistd.h>

#include "load/load_int.h"
#include "unit/load_rig.h"

#define HEADER "arrival_us,input_tokens,output_tokens\n"
#define AZURE "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"

/* Opens text as a trace and writes its rows as "at_ns/in/out/key;". */
static void read_all(const char *text, size_t n,
                     const struct load_columns *columns, char *out, size_t size)
{
	char *path = rig_file(text, n);
	struct load_trace *t;
	struct load_row row;
	struct err e;
	size_t used = 0;
	int got = -1;

	err_clear(&e);
	out[0] = '\0';
	t = load_trace_open(path, columns, &e);
	while (t != NULL && (got = load_trace_next(t, &row, &e)) > 0)
		used += (size_t)snprintf(out + used, size - used,
		                         "%lld/%u/%u/%s;", (long long)row.at_ns,
		                         row.input_tokens, row.output_tokens,
		                         row.key);
	assert_int_equal(got < 0, e.set);
	if (e.set) {
		char message[1200];

		/* "FILE:LINE: ..." with the file's name taken off. */
		err_format(&e, message, sizeof(message));
		assert_memory_equal(message, path, strlen(path));
		snprintf(out + used, size - used, "%s", message + strlen(path));
	}
	load_trace_close(t);
	rig_unlink(path);
}

static void assert_rows(const char *text, const char *want)
{
	char out[2000];

	read_all(text, strlen(text), NULL, out, sizeof(out));
	assert_string_equal(out, want);
}

static void test_own_format(void **state)
{
	(void)state;
	assert_rows(HEADER "5,10,20\n5,1,2\n1000005,3,4\n",
	            "0/10/20/;0/1/2/;1000000000/3/4/;");
	assert_rows(HEADER, "");
	assert_rows(HEADER "1,2,3", "0/2/3/;"); /* no last LF */
	assert_rows("\xEF\xBB\xBF" HEADER "1,2,3\n", "0/2/3/;"); /* BOM */
	assert_rows(HEADER "\n\r\n1,2,3\r\n\n", "0/2/3/;"); /* empty lines */
	assert_rows(HEADER "1,2,3\r\n2,4,5\r", "0/2/3/;1000/4/5/;");
	/* Any order, other columns between. */
	assert_rows("session,output_tokens,note,arrival_us,input_tokens,key\n"
	            "s,20,x,0,10,k\nt,21,,1,11,\n,22,,2,12,\n",
	            "0/10/20/k;1000/11/21/t;2000/12/22/;");
	assert_rows(HEADER "9223372036854775,4294967295,1\n",
	            "0/4294967295/1/;");
}

static void test_quoting(void **state)
{
	(void)state;
	assert_rows("\"arrival_us\",input_tokens,\"output_tokens\",key\r\n"
	            "\"1\",2,3,\"a,b\"\r\n"
	            "2,3,\"4\",\"say \"\"hi\"\"\"\r\n"
	            "3,4,5,\"two\nlines\"\r\n"
	            "4,5,6,\"\"",
	            "0/2/3/a,b;1000/3/4/say \"hi\";2000/4/5/two\nlines;"
	            "3000/5/6/;");
	/* Line numbers count the lines inside quotes. */
	assert_rows("arrival_us,input_tokens,output_tokens,key\n"
	            "1,2,3,\"a\nb\nc\"\n1,x,3,\n",
	            "0/2/3/a\nb\nc;:5: input_tokens: \"x\" is not a whole "
	            "number");
}

static void test_azure(void **state)
{
	(void)state;
	assert_rows(AZURE "2023-11-16 18:15:46.6805900,374,44\r\n"
	                  "2023-11-16 18:15:50.9951690,396,109",
	            "0/374/44/;4314579000/396/109/;");
	/* The year's end, a leap day, whole seconds, offsets. */
	assert_rows(AZURE "2023-12-31 23:59:59.9999999,1,1\n"
	                  "2024-01-01 00:00:00,1,1\n"
	                  "2024-02-29 00:00:00.5+00:00,1,1\n"
	                  "2024-03-01 01:00:00+02:00,1,1\n"
	                  "2024-02-29 23:00:00.000000001Z,1,1\n",
	            "0/1/1/;100/1/1/;5097600500000100/1/1/;"
	            "5180400000000100/1/1/;5180400000000101/1/1/;");
	assert_rows("GeneratedTokens,TIMESTAMP,ContextTokens\n"
	            "7,2023-11-16 18:15:46,9\n",
	            "0/9/7/;");
}

/* Seconds since 1970 as `date -u +%s` has them. */
static void test_times_are_absolute(void **state)
{
	int64_t ns = -1;

	(void)state;
	assert_int_equal(load_read_time("1970-01-01 00:00:00", &ns), 0);
	assert_int_equal(ns, 0);
	assert_int_equal(load_read_time("2000-03-01 00:00:00", &ns), 0);
	assert_int_equal(ns, 951868800 * S);
	assert_int_equal(load_read_time("2023-11-16 18:15:46", &ns), 0);
	assert_int_equal(ns, 1700158546 * S);
}

static void test_bad_rows(void **state)
{
	static const struct {
		const char *row;
		const char *says;
	} cases[] = {
		{"7,12a,3", ":3: input_tokens: \"12a\" is not a whole number"},
		{"7,-12,3", ":3: input_tokens: \"-12\" is not a whole number"},
		{"7,1.0,3", ":3: input_tokens: \"1.0\" is not a whole number"},
		{"7, 1,3", ":3: input_tokens: \" 1\" is not a whole number"},
		{"7,,3", ":3: input_tokens: \"\" is not a whole number"},
		{"7,1,99999999999999999999",
	         ":3: output_tokens: \"99999999999999999999\" is more than "
	         "4294967295 tokens"},
		{"99999999999999999999,1,1",
	         ":3: arrival_us: \"99999999999999999999\" is more than "
	         "9223372036854775 us"},
		{"7,1,4294967296",
	         ":3: output_tokens: \"4294967296\" is more than 4294967295 "
	         "tokens"},
		{"7,1,0",
	         ":3: output_tokens: \"0\" tokens; a request has at least 1"},
		{"7,0,1",
	         ":3: input_tokens: \"0\" tokens; a request has at least 1"},
		{"4,1,1", ":3: arrival_us: \"4\" is before the row above; time "
	                  "goes back"},
		{"1e3,1,1", ":3: arrival_us: \"1e3\" is not a whole number"},
		{"9223372036854776,1,1",
	         ":3: arrival_us: \"9223372036854776\" is more than "
	         "9223372036854775 us"},
		{"7,1", ":3: 2 columns, where the header has 3"},
		{"7", ":3: 1 column, where the header has 3"},
		{"7,1,1,", ":3: 4 columns, where the header has 3"},
		{"7,\"1,1", ":3: a quote that never closes"},
		{"7,\"1\"1,1", ":3: text after a closing quote"},
		{"7,1\"1\",1",
	         ":3: a quote inside a field that does not begin with one"},
		{"7,\x01\xff,1", ":3: input_tokens: \"??\" is not a whole "
	                         "number"},
		{"7,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,1",
	         ":3: input_tokens: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	         "aaa...\" is not a whole number"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[300], want[300];

		snprintf(text, sizeof(text), HEADER "5,1,1\n%s\n8,1,1\n",
		         cases[i].row);
		snprintf(want, sizeof(want), "0/1/1/;%s", cases[i].says);
		assert_rows(text, want);
	}
}

static void test_bad_times(void **state)
{
	static const char *const times[] = {
		"2023-11-16",
		"2023-11-16T18:15:46",
		"2023-13-16 18:15:46",
		"2023-00-16 18:15:46",
		"2023-02-29 18:15:46",
		"1900-02-28 18:15:46",
		"2023-11-00 18:15:46",
		"2023-11-16 24:15:46",
		"2023-11-16 18:60:46",
		"2023-11-16 18:15:60",
		"2023-11-16 18:15:46.",
		"2023-11-16 18:15:46.1234567890",
		"2023-11-16 18:15:46x",
		"2023-11-16 18:15:46+1:00",
		"2023-11-16 18:15:46+24:00",
		"2023-11-16 18:15:46+00:60",
		"2023-11-16 18:15:46Zx",
		"23-11-16 18:15:46",
		"1700179200",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		char text[200], want[200];

		snprintf(text, sizeof(text), AZURE "%s,1,1\r\n", times[i]);
		snprintf(want, sizeof(want),
		         ":2: TIMESTAMP: \"%s\" is not a time like "
		         "2023-11-16 18:15:46.6805900",
		         times[i]);
		assert_rows(text, want);
	}
	assert_rows(AZURE "2023-11-16 18:15:46,1,1\n2023-11-16 18:15:45,1,1",
	            "0/1/1/;:3: TIMESTAMP: \"2023-11-16 18:15:45\" is before "
	            "the row above; time goes back");
}

static void test_bad_headers(void **state)
{
	(void)state;
	assert_rows("", ":1: no header line");
	assert_rows("\n\n", ":1: no header line");
	assert_rows("a,b,c\n1,2,3\n",
	            ":1: arrival_us: no such column in the header");
	assert_rows("arival_us,input_tokens,output_tokens\n",
	            ":1: arrival_us: no such column in the header; it has "
	            "\"arival_us\"");
	assert_rows("arrival_us,input_tokens,output_tokens,input_tokens\n",
	            ":1: input_tokens: two columns of this name");
	assert_rows("TIMESTAMP,ContextTokens\n",
	            ":1: arrival_us: no such column in the header");
}

static void test_columns(void **state)
{
	struct load_columns columns = {
		.arrival_us = "t", .output_tokens = "out", .key = "who"};
	const char *text = "who,t,input_tokens,out,key\nme,1,2,3,not\n";
	const char *azure = "TIMESTAMP,ContextTokens,GeneratedTokens,who\n"
			    "2023-11-16 18:15:46,1,2,me\n";
	char out[2000];

	(void)state;
	read_all(text, strlen(text), &columns, out, sizeof(out));
	assert_string_equal(out, "0/2/3/me;");
	columns.key = "whom";
	read_all(text, strlen(text), &columns, out, sizeof(out));
	assert_string_equal(out, ":1: whom: no such column in the header; it "
	                         "has \"who\"");
	columns = (struct load_columns){.key = "who"};
	read_all(azure, strlen(azure), &columns, out, sizeof(out));
	assert_string_equal(out, "0/1/2/me;");
}

static void test_limits(void **state)
{
	char text[10000], out[2000];
	int n;

	(void)state;
	n = sprintf(text,
	            "arrival_us,input_tokens,output_tokens,key\n"
	            "1,2,3,%055d\n1,2,3,%056d\n",
	            0, 0);
	read_all(text, (size_t)n, NULL, out, sizeof(out));
	assert_non_null(strstr(out, ";:3: key: \"000"));
	assert_non_null(strstr(out, "is longer than 55 bytes"));
	n = sprintf(text, HEADER "1,2,%04091d\n1,2,%04092d\n", 3, 3);
	read_all(text, (size_t)n, NULL, out, sizeof(out));
	assert_string_equal(out, "0/2/3/;:3: a record longer than 4095 bytes");
	n = sprintf(text, HEADER "1,2,%04091d,", 3);
	read_all(text, (size_t)n, NULL, out, sizeof(out));
	assert_string_equal(out, ":2: a record longer than 4095 bytes");
	n = sprintf(text, "%s%063d\n1,", "a,b,", 0);
	memset(text + 4, ',', 63);
	read_all(text, (size_t)n, NULL, out, sizeof(out));
	assert_string_equal(out, ":1: more than 64 columns");
	read_all(HEADER "1,2\0,3\n", sizeof(HEADER "1,2\0,3\n") - 1, NULL, out,
	         sizeof(out));
	assert_string_equal(out, ":2: a NUL byte; this is not text");
}

static void test_files(void **state)
{
	struct load_trace_stats stats;
	char message[1200];
	struct err e;

	(void)state;
	err_clear(&e);
	assert_null(load_trace_open("/nowhere/t.csv", NULL, &e));
	assert_string_equal(err_format(&e, message, sizeof(message)),
	                    "/nowhere/t.csv: cannot be opened: No such file or "
	                    "directory");
	err_clear(&e);
	assert_null(load_trace_open("/", NULL, &e));
	assert_string_equal(err_format(&e, message, sizeof(message)),
	                    "/:1: cannot be read: Is a directory");
	err_clear(&e);
	assert_int_equal(load_trace_check("/nowhere", NULL, &stats, &e), -1);
	assert_true(e.set);
}

/* ---- replay ------------------------------------------------------------- */

static struct load_spec replayed(const char *path)
{
	struct load_spec spec = rig_open(0);

	spec.kind = LOAD_TRACE;
	spec.trace = path;
	spec.keys.kind = LOAD_KEYS_CONTENT;
	return spec;
}

static void test_replay(void **state)
{
	static const char text[] =
		"arrival_us,input_tokens,output_tokens,key\n"
		"100,10,20,ann\n100,11,21,\n4100,12,22,bob\n9101,13,23,ann\n";
	static const int64_t at[] = {0, 0, 4000000, 9001000};
	char *path = rig_file(text, strlen(text));
	struct load_spec spec = replayed(path);
	struct rig rig;

	(void)state;
	spec.from_ns = 7 * S;
	rig_run(&rig, &spec, 1, 1, 0);
	assert_int_equal(rig.n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(rig.at[i].at_ns, 7 * S + at[i]);
		assert_int_equal(rig.at[i].r.number, i);
		assert_int_equal(rig.at[i].r.input_tokens, 10 + i);
		assert_int_equal(rig.at[i].r.output.sealed_, 20 + i);
	}
	assert_string_equal(rig.at[0].r.prompt_cache_key, "ann");
	assert_int_equal(rig.at[1].r.prompt_cache_key_len, 0);
	assert_string_equal(rig.at[2].r.prompt_cache_key, "bob");
	rig_fini(&rig);

	spec.speed = 3; /* 9001000 / 3 = 3000333.3 */
	spec.keys.kind = LOAD_KEYS_UNIQUE;
	rig_run(&rig, &spec, 1, 1, 0);
	assert_int_equal(rig.at[2].at_ns, 7 * S + 1333333);
	assert_int_equal(rig.at[3].at_ns, 7 * S + 3000333);
	assert_string_equal(rig.at[3].r.prompt_cache_key, "k-1-0-0-3");
	rig_fini(&rig);

	spec.speed = 0.5;
	spec.until_ns = 7 * S + 18002000;
	rig_run(&rig, &spec, 1, 1, 0);
	assert_int_equal(rig.n, 3);
	assert_int_equal(rig.at[2].at_ns, 7 * S + 8000000);
	rig_fini(&rig);

	spec.requests = 2;
	rig_run(&rig, &spec, 1, 1, 0);
	assert_int_equal(rig.n, 2);
	rig_fini(&rig);
	rig_unlink(path);
}

static void test_replay_of_a_bad_file(void **state)
{
	static const char text[] = HEADER "1,1,1\n2,1,1\n3,1,0\n4,1,1\n";
	char *path = rig_file(text, strlen(text));
	struct load_spec spec = replayed("/nowhere/t.csv");
	struct calendar calendar;
	struct rig rig;
	struct err e;

	(void)state;
	err_clear(&e);
	calendar_init(&calendar);
	assert_null(load_new(&calendar, &spec, 1, RIG_KIND, 1, 0,
	                     (struct load_sink){NULL, rig_arrive}, &e));
	assert_true(e.set);
	calendar_fini(&calendar);

	/* A file that went bad after it was checked: two rows, then why. */
	spec.trace = path;
	rig_run(&rig, &spec, 1, 1, 0);
	assert_int_equal(rig.n, 2);
	assert_non_null(load_trouble(rig.load));
	assert_int_equal(load_trouble(rig.load)->line, 4);
	rig_fini(&rig);
	rig_unlink(path);
}

/* ---- any bytes ---------------------------------------------------------- */

/* Reads to the end or the first error; both must come, whatever the bytes. */
static unsigned drain(const char *path)
{
	struct load_trace *t;
	struct load_row row;
	struct err e;
	int64_t last = 0;
	unsigned rows = 0;
	int got;

	err_clear(&e);
	t = load_trace_open(path, NULL, &e);
	if (t == NULL) {
		assert_true(e.set);
		return 0;
	}
	while ((got = load_trace_next(t, &row, &e)) > 0) {
		assert_true(row.at_ns >= last);
		assert_true(row.input_tokens > 0 && row.output_tokens > 0);
		assert_true(strlen(row.key) < LOAD_KEY_MAX);
		last = row.at_ns;
		rows++;
	}
	assert_int_equal(got < 0, e.set);
	load_trace_close(t);
	return rows;
}

static void write_over(const char *path, const char *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

/* Half the files are noise; half are a good trace with a few bytes changed,
 * by bytes that mean something to the reader. */
static void test_any_bytes(void **state)
{
	static const char good[] =
		"\xEF\xBB\xBFTIMESTAMP,ContextTokens,GeneratedTokens,key\r\n"
		"2023-11-16 18:15:46.6805900,374,44,\"a \"\"b\"\"\"\r\n"
		"2023-11-16 18:15:50.9951690,396,109,c\r\n"
		"2023-11-16 19:00:00+01:00,396,109,\"\r\n\"\r\n"
		"2024-02-29 19:00:00Z,1,1,";
	static const char special[] = ",,\"\"\r\n\n0-9:.+ Z\xEF\xFF";
	struct stream s = stream_open(99, 0, 0, STREAM_KEY);
	char *path = rig_file("", 0);
	unsigned rows = 0;
	char bytes[600];

	(void)state;
	for (int i = 0; i < 8000; i++) {
		size_t n = sizeof(good) - 1, changes = 1 + stream_below(&s, 4);

		memcpy(bytes, good, n);
		if (i % 2 == 0) {
			n = stream_below(&s, sizeof(bytes));
			changes = n;
		}
		for (size_t k = 0; k < changes; k++) {
			size_t at = i % 2 == 0 ? k : stream_below(&s, n);
			bool any = stream_below(&s, 3) == 0;

			bytes[at] = any ? (char)stream_below(&s, 256)
			                : special[stream_below(
						  &s, sizeof(special))];
		}
		write_over(path, bytes, n);
		rows += drain(path);
	}
	print_message("%u rows were read\n", rows);
	assert_true(rows > 1600);
	rig_unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_format),
		cmocka_unit_test(test_quoting),
		cmocka_unit_test(test_azure),
		cmocka_unit_test(test_times_are_absolute),
		cmocka_unit_test(test_bad_rows),
		cmocka_unit_test(test_bad_times),
		cmocka_unit_test(test_bad_headers),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_replay_of_a_bad_file),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
