/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bad link between two network namespaces, where the kernel has no netem: a TUN or TAP device
 * in each, and packets between them that get lost, repeated, reordered, delayed and damaged.
 */
#include "lane.h"
#include "tun.h"

#include <errno.h>
#include <getopt.h>
#include <net/ethernet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Packets taken from one device before the other gets its turn. */
#define TURN_MAX 64

static volatile sig_atomic_t stopped;

static void on_signal(int signal)
{
	(void)signal;
	stopped = 1;
}

static const char usage[] =
    "Usage: link --a NETNS --b NETNS [options]\n"
    "Joins two network namespaces by a bad link. Makes a device in each (addresses are the\n"
    "caller's business), prints \"ready\", and its counts per direction at SIGTERM.\n"
    "  --device NAME    name of both devices (tun0)\n"
    "  --tap            Ethernet devices (TAP); what is not TCP always passes\n"
    "  --offload HOW    off: whole checksums, single segments; segment: the kernel hands over\n"
    "                   partial checksums and large packets, the link completes and cuts them as\n"
    "                   a network card does; pass: it hands them on as they are (off)\n"
    "  --loss P         percent of packets lost\n"
    "  --burst N        ... and up to N - 1 behind each of them (1)\n"
    "  --duplicate P    percent sent twice\n"
    "  --reorder P      percent kept back behind others\n"
    "  --behind K       ... behind up to K of them (3)\n"
    "  --corrupt P      percent with a flipped bit that the checksum shows\n"
    "  --forge P        percent beside which a stranger sends a SYN, SYN-ACK, FIN or RST\n"
    "  --delay US       delay in microseconds\n"
    "  --jitter US      up to so many more, drawn for each packet (this reorders too)\n"
    "  --rate MBIT      limit in Mbit/s, with a queue of 200 ms\n"
    "  --mtu BYTES      larger packets are dropped (65535)\n"
    "  --icmp           ... and their sender is told\n"
    "  --fault N        flip a payload bit in every N-th packet and hide it from the checksum:\n"
    "                   proves that the client notices\n"
    "  --each N         every connection has a mishap of its own, in turn: one of its first N "
    "packets\n"
    "                   in one direction is lost, comes twice, or behind one or three others\n"
    "  --pairs          ... or any two of them are lost\n"
    "  --seed N         (1)\n";

struct options {
	const char *netns[2], *device;
	struct impairment impairment;
	struct mishaps mishaps;
	uint64_t seed;
	bool ethernet;
};

static enum offload offload_by_name(const char *name)
{
	static const char *const names[] = {"off", "segment", "pass"};

	for (int i = 0; i < 3; i++) {
		if (!strcmp(name, names[i]))
			return (enum offload)i;
	}
	fprintf(stderr, "link: --offload %s: off, segment or pass\n", name);
	exit(2);
}

static double number(const char *text)
{
	char *end;
	double n = strtod(text, &end);

	if (end != text && !*end && n >= 0)
		return n;
	fprintf(stderr, "link: %s: expected a number, not below 0\n", text);
	exit(2);
}

static unsigned int whole(const char *text)
{
	return (unsigned int)number(text);
}

static void apply(struct options *options, int option, const char *value)
{
	struct impairment *how = &options->impairment;

	switch (option) {
	case 'a':
		options->netns[0] = value;
		break;
	case 'b':
		options->netns[1] = value;
		break;
	case 'n':
		options->device = value;
		break;
	case 't':
		options->ethernet = true;
		how->link_len = ETH_HLEN;
		break;
	case 'o':
		how->offload = offload_by_name(value);
		break;
	case 'l':
		how->loss = number(value);
		break;
	case 'B':
		how->burst = whole(value);
		break;
	case 'E':
		options->mishaps.upto = whole(value);
		break;
	case 'P':
		options->mishaps.pairs = true;
		break;
	case 'd':
		how->duplicate = number(value);
		break;
	case 'r':
		how->reorder = number(value);
		break;
	case 'k':
		how->behind = whole(value);
		break;
	case 'c':
		how->corrupt = number(value);
		break;
	case 'F':
		how->forge = number(value);
		break;
	case 'y':
		how->delay_us = whole(value);
		break;
	case 'j':
		how->jitter_us = whole(value);
		break;
	case 'R':
		how->rate_mbit = whole(value);
		break;
	case 'm':
		how->mtu = whole(value);
		break;
	case 'i':
		how->icmp = true;
		break;
	case 'f':
		how->fault_every = whole(value);
		break;
	case 's':
		options->seed = (uint64_t)number(value);
		break;
	default:
		fputs(usage, option == 'h' ? stdout : stderr);
		exit(option == 'h' ? 0 : 2);
	}
}

static void read_options(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
	    {"a", required_argument, NULL, 'a'},
	    {"b", required_argument, NULL, 'b'},
	    {"device", required_argument, NULL, 'n'},
	    {"tap", no_argument, NULL, 't'},
	    {"offload", required_argument, NULL, 'o'},
	    {"loss", required_argument, NULL, 'l'},
	    {"burst", required_argument, NULL, 'B'},
	    {"each", required_argument, NULL, 'E'},
	    {"pairs", no_argument, NULL, 'P'},
	    {"duplicate", required_argument, NULL, 'd'},
	    {"reorder", required_argument, NULL, 'r'},
	    {"behind", required_argument, NULL, 'k'},
	    {"corrupt", required_argument, NULL, 'c'},
	    {"delay", required_argument, NULL, 'y'},
	    {"jitter", required_argument, NULL, 'j'},
	    {"rate", required_argument, NULL, 'R'},
	    {"mtu", required_argument, NULL, 'm'},
	    {"icmp", no_argument, NULL, 'i'},
	    {"fault", required_argument, NULL, 'f'},
	    {"seed", required_argument, NULL, 's'},
	    {"forge", required_argument, NULL, 'F'},
	    {"help", no_argument, NULL, 'h'},
	    {0},
	};
	int option;

	*options = (struct options){
	    .device = "tun0",
	    .seed = 1,
	    .impairment = {.behind = 3, .burst = 1, .mtu = 65535},
	};
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
		apply(options, option, optarg);
	if (!options->netns[0] || !options->netns[1] || !options->impairment.behind) {
		fprintf(stderr, "link: --a and --b are needed, and --behind is at least 1\n%s",
			usage);
		exit(2);
	}
}

static uint64_t clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void take_turn(struct lane *lane, int in, struct packet *packet)
{
	uint64_t now = clock_us();

	for (int i = 0; i < TURN_MAX && !tun_read(in, packet); i++)
		lane_take(lane, packet, now);
}

static struct timespec wait_time(uint64_t now_us, uint64_t next_us)
{
	uint64_t us = next_us > now_us ? next_us - now_us : 0;

	if (us > 1000000)
		us = 1000000;
	return (struct timespec){(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
}

/* The signals are let in only while it waits, so that none is missed. */
static void run(struct lane lanes[2], const int devices[2], const sigset_t *while_waiting)
{
	struct pollfd polls[2] = {{devices[0], POLLIN, 0}, {devices[1], POLLIN, 0}};
	struct packet *packet = packet_new(PACKET_MAX);

	while (!stopped) {
		uint64_t now = clock_us(), next[2];
		struct timespec wait;

		for (int i = 0; i < 2; i++)
			next[i] = lane_deliver(&lanes[i], now);
		wait = wait_time(now, next[0] < next[1] ? next[0] : next[1]);
		if (ppoll(polls, 2, &wait, while_waiting) <= 0)
			continue;
		for (int i = 0; i < 2; i++)
			take_turn(&lanes[i], devices[i], packet);
	}
	free(packet);
}

static int open_devices(const struct options *options, int devices[2])
{
	struct tun_kind kind = {
	    .ethernet = options->ethernet,
	    .offload = options->impairment.offload != OFFLOAD_OFF,
	};

	for (int i = 0; i < 2; i++) {
		devices[i] = tun_open(options->netns[i], options->device, &kind);
		if (devices[i] >= 0)
			continue;
		fprintf(stderr, "link: device %s in namespace %s: %s\n", options->device,
			options->netns[i], strerror(-devices[i]));
		return devices[i];
	}
	return 0;
}

static void make_lanes(struct options *options, const int devices[2], struct lane lanes[2])
{
	for (int i = 0; i < 2; i++) {
		lanes[i] = (struct lane){
		    .impairment = &options->impairment,
		    .mishaps = &options->mishaps,
		    .direction = i,
		    .name = i ? "b to a" : "a to b",
		    .out = devices[1 - i],
		    .back = devices[i],
		    .rng = rng_for(options->seed, (uint64_t)i),
		};
	}
}

int main(int argc, char **argv)
{
	struct options options;
	struct lane lanes[2];
	int devices[2];
	sigset_t quiet, old;

	read_options(&options, argc, argv);
	sigemptyset(&quiet);
	sigaddset(&quiet, SIGTERM);
	sigaddset(&quiet, SIGINT);
	sigprocmask(SIG_BLOCK, &quiet, &old);
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	if (open_devices(&options, devices))
		return 1;
	mishaps_start(&options.mishaps);
	make_lanes(&options, devices, lanes);
	printf("ready\n");
	fflush(stdout);
	run(lanes, devices, &old);
	for (int i = 0; i < 2; i++) {
		lane_print(&lanes[i]);
		lane_free(&lanes[i]);
		close(devices[i]);
	}
	mishaps_print(&options.mishaps, stdout);
	mishaps_free(&options.mishaps);
	return 0;
}
