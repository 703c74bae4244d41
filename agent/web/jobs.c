// SPDX-License-Identifier: Apache-2.0
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <microhttpd.h>

#include "web/api_store.h"
#include "web/jobs.h"
#include "web/pages.h"
#include "web/workers.h"

#define READERS       2 /* threads that read the store */
#define READS_WAITING 16
#define SOON_WAITING  48
#define RIVALS_MAX    8           /* of one address, which wait for such answers */
#define ANSWERS_MAX   (64L << 20) /* bytes of answers that have not been fetched yet */
#define RETRY_SECONDS 1
#define START_MS      1000 /* until threads that have nothing to do have ended */

struct jobs {
	const struct web_options *options;
	struct workers *soon, *later;
	atomic_long bytes;
};

struct job {
	struct work work;
	struct jobs *jobs; /* NULL: it was not begun */
	struct request request;
	const char *path;
	struct reply reply;
	atomic_bool is_done;
	long bytes; /* of ANSWERS_MAX */
};

struct jobs *jobs_new(const struct web_options *options)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));

	if (!jobs)
		return NULL;
	jobs->options = options;
	jobs->soon = workers_new(1, SOON_WAITING);
	jobs->later = workers_new(READERS, READS_WAITING);
	if (jobs->soon && jobs->later)
		return jobs;
	if (jobs_end(jobs, START_MS))
		jobs_free(jobs);
	return NULL;
}

bool jobs_end(struct jobs *jobs, unsigned int ms)
{
	return !jobs || (workers_end(jobs->later, ms) && workers_end(jobs->soon, ms));
}

void jobs_free(struct jobs *jobs)
{
	if (!jobs)
		return;
	workers_free(jobs->later);
	workers_free(jobs->soon);
	free(jobs);
}

struct job *job_new(struct MHD_Connection *connection, const char *path)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->request.connection = connection;
	job->path = path;
	job->reply.status = MHD_HTTP_OK;
	return job;
}

static void refuse(struct job *job)
{
	buffer_free(&job->reply.body);
	api_refuse(&job->reply, MHD_HTTP_SERVICE_UNAVAILABLE,
		   "too much is being answered; ask again");
	job->reply.retry_seconds = RETRY_SECONDS;
}

/* Answers wait in memory for whoever has asked, who may be slow. */
static void make(struct job *job)
{
	struct jobs *jobs = job->jobs;

	pages_answer(jobs->options, job->path, &job->request, &job->reply);
	job->bytes = (long)job->reply.body.size;
	if (atomic_fetch_add(&jobs->bytes, job->bytes) + job->bytes > ANSWERS_MAX)
		refuse(job);
}

/* From now on it is the connection's. */
static void finish(struct job *job)
{
	struct MHD_Connection *connection = job->request.connection;

	atomic_store(&job->is_done, true);
	MHD_resume_connection(connection);
}

static void do_later(struct work *work)
{
	struct job *job = (struct job *)((char *)work - offsetof(struct job, work));

	make(job);
	finish(job);
}

/* From then on it belongs to a worker, until that has made it, or to nobody if there is no room. */
static void give(struct workers *workers, struct job *job)
{
	struct MHD_Connection *connection = job->request.connection;

	job->work.do_it = do_later;
	MHD_suspend_connection(connection);
	if (!workers_give(workers, &job->work))
		return;
	refuse(job);
	finish(job);
}

bool job_begin(struct jobs *jobs, struct job *job, unsigned int rivals)
{
	const enum page_time time = pages_time(jobs->options, job->path);

	job->jobs = jobs;
	if (time != PAGE_AT_ONCE && !(time == PAGE_LATER && rivals >= RIVALS_MAX)) {
		give(time == PAGE_SOON ? jobs->soon : jobs->later, job);
		return false;
	}
	if (time == PAGE_AT_ONCE)
		make(job);
	else
		refuse(job);
	atomic_store(&job->is_done, true);
	return true;
}

struct reply *job_reply(struct job *job)
{
	return atomic_load(&job->is_done) ? &job->reply : NULL;
}

void job_free(struct job *job)
{
	if (!job)
		return;
	if (job->jobs)
		atomic_fetch_sub(&job->jobs->bytes, job->bytes);
	buffer_free(&job->reply.body);
	free(job);
}
