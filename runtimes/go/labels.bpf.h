/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The labels that runtime/pprof has set for the goroutine that a thread runs: an array of pairs of
 * strings, or before Go 1.24 a map.
 */
#ifndef CTXPROP_RUNTIMES_GO_LABELS_BPF_H
#define CTXPROP_RUNTIMES_GO_LABELS_BPF_H

#include "profile/label.bpf.h"

#define GO_LABELS_M 48 /* g.m */

/* A map before Go 1.24 (src/runtime/map.go). */
#define GO_MAP_COUNT      0
#define GO_MAP_LOG        9 /* log2 of how many buckets there are, 1 byte */
#define GO_MAP_BUCKETS    16
#define GO_BUCKET_PLACES  8
#define GO_BUCKET_KEYS    8 /* bytes; before them one byte of each place */
#define GO_BUCKET_VALUES  (GO_BUCKET_KEYS + GO_BUCKET_PLACES * 16)
#define GO_BUCKET_NEXT    (GO_BUCKET_VALUES + GO_BUCKET_PLACES * 16)
#define GO_BUCKET_BYTES   (GO_BUCKET_NEXT + 8)
#define GO_PLACE_USED_MIN 5   /* smaller ones: the place is free, or its pair has moved */
#define GO_MAP_LOG_MAX    4   /* larger maps are not read */
#define GO_PLACES_MAX     256 /* that are looked at */

/* Where an array is read. */
struct go_array {
	struct profile_sample *sample;
	__u64 at, count;
};

/* Where a map is read. */
struct go_map {
	struct profile_sample *sample;
	__u64 buckets, number, count; /* of buckets, and which one comes next */
	__u64 bucket;                 /* 0: the next one */
	__u32 place;                  /* in it */
};

/* The labels of the goroutine; 0: it has none. */
static __always_inline __u64 go_labels_address(const struct profile_go *go, __u64 thread)
{
	__u64 g = thread ? user_read(thread + go->g) : 0;
	__u64 m = g ? user_read(g + GO_LABELS_M) : 0;

	g = m ? user_read(m + go->curg) : 0;
	return g ? user_read(g + go->labels) : 0;
}

/* As a callback of bpf_loop(). */
static long go_array_label(__u32 i, struct go_array *read)
{
	struct label_text pair[2];

	if (i >= read->count ||
	    bpf_probe_read_user(pair, sizeof(pair), (const void *)(read->at + i * sizeof(pair))))
		return 1;
	label_add(read->sample, PROFILE_SOURCE_GO, 0, pair[0], pair[1]);
	return 0;
}

static __always_inline void go_map_pair(struct go_map *read)
{
	__u64 key = read->bucket + GO_BUCKET_KEYS + read->place * sizeof(struct label_text);
	__u64 value = read->bucket + GO_BUCKET_VALUES + read->place * sizeof(struct label_text);
	struct label_text key_text, value_text;

	if (!bpf_probe_read_user(&key_text, sizeof(key_text), (const void *)key) &&
	    !bpf_probe_read_user(&value_text, sizeof(value_text), (const void *)value))
		label_add(read->sample, PROFILE_SOURCE_GO, 0, key_text, value_text);
}

/* One place of a bucket, as a callback of bpf_loop(). */
static long go_map_place(__u32 i, struct go_map *read)
{
	__u8 used = 0;

	if (!read->bucket) {
		if (read->number >= read->count)
			return 1;
		read->bucket = read->buckets + read->number * GO_BUCKET_BYTES;
		read->number++;
		read->place = 0;
	}
	if (bpf_probe_read_user(&used, 1, (const void *)(read->bucket + read->place)))
		return 1;
	if (used >= GO_PLACE_USED_MIN)
		go_map_pair(read);
	if (++read->place == GO_BUCKET_PLACES) {
		read->bucket = user_read(read->bucket + GO_BUCKET_NEXT);
		read->place = 0;
	}
	return 0;
}

static __always_inline void go_map_labels(struct profile_sample *s, __u64 labels)
{
	struct go_map read = {.sample = s};
	__u64 map = user_read(labels);
	__u8 log = 0;

	if (!map || !user_read(map + GO_MAP_COUNT) ||
	    bpf_probe_read_user(&log, 1, (const void *)(map + GO_MAP_LOG)) || log > GO_MAP_LOG_MAX)
		return;
	read.buckets = user_read(map + GO_MAP_BUCKETS);
	read.count = 1ULL << (log & 7);
	if (read.buckets)
		bpf_loop(GO_PLACES_MAX, go_map_place, &read, 0);
}

static __always_inline void go_labels(struct profile_sample *s,
				      const struct profile_thread_data *data, __u64 thread)
{
	struct go_array read = {.sample = s};
	__u64 labels, words[2];

	if (data->go.form == PROFILE_GO_NONE)
		return;
	labels = go_labels_address(&data->go, thread);
	if (!labels)
		return;
	if (data->go.form == PROFILE_GO_MAP) {
		go_map_labels(s, labels);
		return;
	}
	if (bpf_probe_read_user(words, sizeof(words), (const void *)labels))
		return;
	read.at = words[0];
	read.count = words[1];
	bpf_loop(PROFILE_LABELS_TAKEN + 1, go_array_label, &read, 0);
}

#endif
