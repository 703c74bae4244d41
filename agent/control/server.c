// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/receive.h"
#include "control/right.h"
#include "control/server.h"

#define RECEIVE_BUFFER   (4 * 1024 * 1024)
#define DATAGRAMS_A_TURN 32 /* then the daemon looks after other things */
/* In a datagram of who is not known to be root; what is behind these is not looked at. */
#define MESSAGES_OF_OTHERS 32
#define SEND_TIMEOUT_USEC  100000 /* a peer that does not read its answer costs no more */
/* For those who may only ask: then an answer is not waited for any more, if it is not read. */
#define ANSWER_NS (NS_PER_SECOND / 2)
/* They are refused once so much time was spent on them; it comes back ten times as slowly. */
#define ASKED_NS       NS_PER_SECOND
#define ASKED_PART     10
#define ERROR_TEXT_MAX sizeof(((struct policy_error *)0)->text)

struct control_server {
	struct mnl_socket *nl;
	int rights; /* see right.h */
	struct control_server_options options;
	__u64 spent_ns, spent_at_ns; /* on who may only ask, as it was then (CLOCK_MONOTONIC) */
	_Alignas(struct nlmsghdr) char received[CONTROL_MESSAGE_MAX];
};

struct control_answer {
	struct control_server *server;
	struct control_peer peer;
	__u64 begin_ns;
	struct control_message part;
	_Alignas(struct nlmsghdr) char bytes[CONTROL_PART_MAX];
};

static int set_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

/* The usual port, or any other where somebody has it. */
static int take_port(struct mnl_socket *nl)
{
	if (!mnl_socket_bind(nl, 0, CONTROL_PORT))
		return 0;
	if (errno != EADDRINUSE || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID))
		return -errno;
	return 0;
}

static int open_socket(struct control_server *server)
{
	static const struct timeval patience = {.tv_usec = SEND_TIMEOUT_USEC};
	int fd, err;

	server->nl = mnl_socket_open2(NETLINK_USERSOCK, SOCK_CLOEXEC);
	if (!server->nl)
		return -errno;
	fd = mnl_socket_get_fd(server->nl);
	/* Only with CAP_NET_ADMIN; without it a whole policy may not fit into one message. */
	set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER);
	err = set_option(fd, SOL_SOCKET, SO_PASSCRED, 1);
	if (!err && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)))
		err = -errno;
	if (err)
		return err;
	server->rights = control_right_open();
	if (server->rights < 0)
		return server->rights;
	err = take_port(server->nl);
	return err ? err : control_right_show(fd);
}

int control_server_open(const struct control_server_options *options,
			struct control_server **ret_server)
{
	struct control_server *server = calloc(1, sizeof(*server));
	int err;

	if (!server)
		return -ENOMEM;
	server->options = *options;
	server->rights = -1;
	err = open_socket(server);
	if (err)
		control_server_close(server);
	else
		*ret_server = server;
	return err;
}

int control_server_fd(const struct control_server *server)
{
	return mnl_socket_get_fd(server->nl);
}

__u32 control_server_port(const struct control_server *server)
{
	return mnl_socket_get_portid(server->nl);
}

void control_server_close(struct control_server *server)
{
	if (!server)
		return;
	if (server->nl)
		mnl_socket_close(server->nl);
	if (server->rights >= 0)
		close(server->rights);
	free(server);
}

static int send_to(const struct control_server *server, __u32 port, __u32 groups,
		   const struct nlmsghdr *header, int flags)
{
	const struct sockaddr_nl to = {
	    .nl_family = AF_NETLINK, .nl_pid = port, .nl_groups = groups};

	return sendto(mnl_socket_get_fd(server->nl), header, header->nlmsg_len, flags,
		      (const struct sockaddr *)&to, sizeof(to)) < 0
		   ? -errno
		   : 0;
}

void control_server_notify(const struct control_server *server,
			   const struct control_message *message)
{
	send_to(server, 0, CONTROL_GROUP, message->header, MSG_DONTWAIT);
}

/* NLMSG_ERROR: an error with its text, or an acknowledgement (0). */
static void acknowledge(const struct control_server *server, const struct control_peer *peer,
			const struct nlmsghdr *request, int err, const struct policy_error *error)
{
	_Alignas(struct nlmsghdr) char bytes[512] = {}; /* padding goes out, too */
	struct nlmsghdr *header = mnl_nlmsg_put_header(bytes);
	struct nlmsgerr *body = mnl_nlmsg_put_extra_header(header, sizeof(*body));

	_Static_assert(sizeof(bytes) >= 128 + ERROR_TEXT_MAX, "the text fits");
	header->nlmsg_type = NLMSG_ERROR;
	header->nlmsg_seq = peer->sequence;
	header->nlmsg_pid = control_server_port(server);
	body->error = err;
	body->msg = *request;
	header->nlmsg_flags = NLM_F_CAPPED;
	if (err && error->text[0]) {
		header->nlmsg_flags |= NLM_F_ACK_TLVS;
		mnl_attr_put_strz(header, NLMSGERR_ATTR_MSG, error->text);
	}
	/* Never blocks, since this is also sent to peers that were refused. */
	send_to(server, peer->port, 0, header, MSG_DONTWAIT);
}

static bool is_change(__u16 type)
{
	return type != CONTROL_RULE_GET && type != CONTROL_SET_GET && type != CONTROL_STORE_GET;
}

/* Is it user 0 with CAP_NET_ADMIN? Then peer->pid becomes the id in our own pid namespace. Asked
 * once for a datagram. */
static bool is_admin(const struct control_server *server, struct control_peer *peer)
{
	struct control_right right;

	if (peer->standing != CONTROL_UNASKED)
		return peer->standing == CONTROL_ADMIN;
	peer->standing = CONTROL_OTHER;
	if (peer->uid || control_right_of(server->rights, peer->port, &right) || !right.admin)
		return false;
	peer->standing = CONTROL_ADMIN;
	peer->pid = control_right_holder(right.inode, peer->pid);
	return true;
}

static int check_rights(const struct control_server *server, struct control_peer *peer, __u16 type,
			struct policy_error *error)
{
	if (is_admin(server, peer))
		return 0;
	if (is_change(type) && !peer->uid)
		return policy_fail(error, -EPERM,
				   "only root with CAP_NET_ADMIN over the daemon's network "
				   "namespace may change this");
	if (is_change(type))
		return policy_fail(error, -EPERM, "only root may change this");
	if (server->options.readers && peer->gid == server->options.readers)
		return 0;
	return policy_fail(error, -EPERM, "only root may ask for this");
}

/*
 * Is there time for somebody who may only ask? All of these together get a tenth of it, and what
 * they have had in advance.
 */
static bool has_time(struct control_server *server)
{
	const __u64 now_ns = clock_now_ns(), back_ns = (now_ns - server->spent_at_ns) / ASKED_PART;

	server->spent_ns -= back_ns < server->spent_ns ? back_ns : server->spent_ns;
	server->spent_at_ns = now_ns;
	return server->spent_ns < ASKED_NS;
}

/* Send a message of an answer. 0, -EAGAIN: it is not read, or -errno. */
static int send_answer(const struct control_answer *answer, const struct nlmsghdr *header)
{
	const bool waits =
	    answer->peer.standing == CONTROL_ADMIN || clock_now_ns() - answer->begin_ns < ANSWER_NS;

	return send_to(answer->server, answer->peer.port, 0, header, waits ? 0 : MSG_DONTWAIT);
}

static int send_part(const struct control_answer *answer)
{
	return send_answer(answer, answer->part.header);
}

/* The next message of an answer: one rule, the store, or a piece of a set. Each is a datagram of
 * its own. */
static struct control_message *next_part(struct control_answer *answer, __u16 type)
{
	control_begin(&answer->part, answer->bytes, sizeof(answer->bytes), type, NLM_F_MULTI);
	answer->part.header->nlmsg_seq = answer->peer.sequence;
	answer->part.header->nlmsg_pid = control_server_port(answer->server);
	return &answer->part;
}

const struct control_peer *control_answer_peer(const struct control_answer *answer)
{
	return &answer->peer;
}

int control_answer_rule(struct control_answer *answer, const struct policy_rule *rule,
			const struct control_about *about)
{
	if (!control_put_rule(next_part(answer, CONTROL_RULE_NEW), rule, about))
		return -EMSGSIZE;
	return send_part(answer);
}

int control_answer_set(struct control_answer *answer, const struct policy_set *set)
{
	static const size_t most = 256;
	struct policy_set part = *set;
	size_t left = set->count;
	int err;

	/* A set without networks is sent, too. */
	do {
		part.count = left < most ? left : most;
		if (!control_put_set(next_part(answer, CONTROL_SET_NEW), &part))
			return -EMSGSIZE;
		err = send_part(answer);
		part.prefixes += part.count;
		left -= part.count;
	} while (!err && left);
	return err;
}

int control_answer_store(struct control_answer *answer, const struct control_store *store)
{
	if (!control_put_store(next_part(answer, CONTROL_STORE_GET), store))
		return -EMSGSIZE;
	return send_part(answer);
}

static void end_answer(struct control_answer *answer)
{
	struct nlmsghdr *header = mnl_nlmsg_put_header(answer->bytes);
	int *status = mnl_nlmsg_put_extra_header(header, sizeof(*status));

	header->nlmsg_type = NLMSG_DONE;
	header->nlmsg_flags = NLM_F_MULTI;
	header->nlmsg_seq = answer->peer.sequence;
	header->nlmsg_pid = control_server_port(answer->server);
	*status = 0;
	send_answer(answer, header);
}

/* A question that the peer may ask. */
static int answer_question(struct control_server *server, struct control_peer *peer,
			   const struct nlmsghdr *request, struct policy_error *error)
{
	struct control_answer answer = {.server = server, .peer = *peer};
	const bool counts = peer->standing != CONTROL_ADMIN;
	int err;

	if (counts && (peer->questions++ || !has_time(server)))
		return policy_fail(error, -EBUSY, "too much was asked, ask again in some seconds");
	if ((request->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		return policy_fail(error, -EINVAL, "this can only be dumped");
	answer.begin_ns = clock_now_ns();
	err = server->options.handle(request, &answer, server->options.data, error);
	if (!err)
		end_answer(&answer);
	server->spent_ns += counts ? clock_now_ns() - answer.begin_ns : 0;
	return err;
}

static int dispatch(struct control_server *server, struct control_peer *peer,
		    const struct nlmsghdr *request, struct policy_error *error)
{
	struct control_answer answer = {.server = server};
	__u16 type = request->nlmsg_type;
	int err;

	if (type < NLMSG_MIN_TYPE || type >= CONTROL_TYPE_END)
		return policy_fail(error, -EOPNOTSUPP, "there is no message of type %u", type);
	err = check_rights(server, peer, type, error);
	if (err)
		return err;
	if (!is_change(type))
		return answer_question(server, peer, request, error);
	answer.peer = *peer;
	return server->options.handle(request, &answer, server->options.data, error);
}

static void handle(struct control_server *server, struct control_peer *peer,
		   const struct nlmsghdr *request)
{
	struct policy_error error = {};
	int err;

	/*
	 * Acknowledgements and other messages are not answered, or two daemons could answer each
	 * other for ever.
	 */
	if (!(request->nlmsg_flags & NLM_F_REQUEST) || request->nlmsg_type < NLMSG_MIN_TYPE)
		return;
	peer->sequence = request->nlmsg_seq;
	err = dispatch(server, peer, request, &error);
	if (err || (is_change(request->nlmsg_type) && request->nlmsg_flags & NLM_F_ACK))
		acknowledge(server, peer, request, err, &error);
}

/* Receive one datagram. Returns its size, 0: nothing usable, -EAGAIN: no more. */
static ssize_t receive(struct control_server *server, struct control_peer *ret_peer)
{
	struct control_sender sender;
	ssize_t size = control_receive(mnl_socket_get_fd(server->nl), server->received,
				       sizeof(server->received), MSG_DONTWAIT, &sender);

	if (size < 0)
		return size == -EAGAIN ? -EAGAIN : 0;
	ret_peer->port = sender.port;
	ret_peer->pid = sender.pid;
	ret_peer->uid = sender.uid;
	ret_peer->gid = sender.gid;
	/* To its own port, and from one that can be answered. */
	return sender.whole && sender.known && sender.port && !sender.groups ? size : 0;
}

void control_server_read(struct control_server *server)
{
	for (int turn = 0; turn < DATAGRAMS_A_TURN; turn++) {
		const char *at = server->received;
		const struct nlmsghdr *request;
		struct control_peer peer = {};
		ssize_t size = receive(server, &peer);
		size_t left = size > 0 ? (size_t)size : 0;

		if (size == -EAGAIN)
			return;
		for (int i = 0; i < MESSAGES_OF_OTHERS || peer.standing == CONTROL_ADMIN; i++) {
			request = control_next(&at, &left);
			if (!request)
				break;
			handle(server, &peer, request);
		}
	}
}
