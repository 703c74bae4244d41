// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/unique.h"
#include "trace/histogram.h"
#include "trace/shares.h"
#include "trace/slow.h"

#define WINDOW_NS (60 * NS_PER_SECOND)
#define KNOWN     100 /* requests, for one to be called slow */
#define PERCENT   99

struct endpoint {
	__u64 hash; /* of what it is called */
	__u64 window;
	struct histogram now, before; /* of this window and the one before it */
};

struct slow {
	struct unique endpoints;
	struct shares shares;
};

static bool has_hash(const void *item, const void *hash)
{
	return ((const struct endpoint *)item)->hash == *(const __u64 *)hash;
}

struct slow *slow_new(void)
{
	struct slow *slow = calloc(1, sizeof(*slow));

	if (slow) {
		slow->endpoints.same = has_hash;
		slow->shares.room = SLOW_ENDPOINTS_MAX;
	}
	return slow;
}

void slow_free(struct slow *slow)
{
	if (!slow)
		return;
	unique_free_all(&slow->endpoints);
	free(slow);
}

static __u64 hash_of(const struct span *span)
{
	__u64 hash = hash_text(HASH_BEGIN, span->service.name);

	hash = hash_text(hash, span->method);
	hash = hash_text(hash, span->route);
	return hash_add(hash, &span->kind, sizeof(span->kind));
}

/* NULL: there is no room, or the owner has his share. */
static struct endpoint *find(struct slow *slow, __u64 hash, const char *owner)
{
	struct endpoint *endpoint = unique_find(&slow->endpoints, hash, &hash);

	if (endpoint || !shares_take(&slow->shares, owner))
		return endpoint;
	endpoint = calloc(1, sizeof(*endpoint));
	if (!endpoint || unique_append(&slow->endpoints, hash, endpoint) < 0) {
		free(endpoint);
		return NULL;
	}
	endpoint->hash = hash;
	return endpoint;
}

static void turn_window(struct endpoint *endpoint, __u64 window)
{
	if (window <= endpoint->window)
		return;
	if (window == endpoint->window + 1)
		endpoint->before = endpoint->now;
	else
		memset(&endpoint->before, 0, sizeof(endpoint->before));
	memset(&endpoint->now, 0, sizeof(endpoint->now));
	endpoint->window = window;
}

static bool is_above(const struct histogram *histogram, __u64 ns)
{
	return ns >= histogram_above(histogram, PERCENT);
}

/* It must be above both percentiles. If all requests become slower, the percentile soon follows. */
static bool is_slow(const struct endpoint *endpoint, __u64 ns)
{
	bool knows_now = endpoint->now.total >= KNOWN,
	     knows_before = endpoint->before.total >= KNOWN;

	return (knows_now || knows_before) && (!knows_now || is_above(&endpoint->now, ns)) &&
	       (!knows_before || is_above(&endpoint->before, ns));
}

bool slow_judge(struct slow *slow, const struct span *span)
{
	struct endpoint *endpoint = find(slow, hash_of(span), span->service.owner);
	__u64 ns = span->end_ns - span->start_ns;
	bool judgement;

	if (!endpoint)
		return false;
	turn_window(endpoint, span->end_ns / WINDOW_NS);
	judgement = is_slow(endpoint, ns);
	histogram_add(&endpoint->now, ns);
	return judgement;
}
