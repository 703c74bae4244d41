// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/netns.h"
#include "base/netns_all.h"
#include "control/client.h"
#include "control/port.h"
#include "control/receive.h"
#include "control/right.h"

#define ANSWER_SECONDS 10
#define TOLD_SECONDS   1
#define BUFFER         (4 * 1024 * 1024)
#define NOISE_MAX      10000 /* how many datagrams that are no answers are skipped until one comes */

struct control_client {
	struct mnl_socket *nl;
	struct pins home; /* of the daemon's own network namespace */
	bool listens;     /* it only receives notifications of changes */
	bool away;        /* that is another one than the caller's */
	int rights;       /* see right.h */
	__u32 port;       /* of the daemon */
	__u32 sequence;
	pid_t daemon; /* who has answered */
	struct control_message request;
	_Alignas(struct nlmsghdr) char sent[CONTROL_MESSAGE_MAX];
	_Alignas(struct nlmsghdr) char received[2 * CONTROL_PART_MAX];
};

/* More room than usual where the kernel lets us. */
static void set_buffer(int fd, int forced, int polite)
{
	static const int size = BUFFER;

	if (setsockopt(fd, SOL_SOCKET, forced, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, polite, &size, sizeof(size));
}

/* Find the daemon by the pins of this network namespace. 0 or -errno. */
static int find_home(struct control_client *client)
{
	struct pins here;
	__u64 cookie, owner;
	int err = netns_cookie(&cookie);

	if (err)
		return err;
	pins_name(cookie, &here);
	owner = pins_owner(&here);
	client->away = owner != 0;
	pins_name(owner ? owner : cookie, &client->home);
	client->port = control_port_find(&client->home);
	return 0;
}

static int open_socket(struct control_client *client, bool listen)
{
	static const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	static const int on = 1;
	int fd;

	client->nl = mnl_socket_open2(NETLINK_USERSOCK, SOCK_CLOEXEC);
	if (!client->nl)
		return -errno;
	fd = mnl_socket_get_fd(client->nl);
	set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF);
	set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF);
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		return -errno;
	client->rights = control_right_open();
	if (client->rights < 0)
		return client->rights;
	if (!listen && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		return -errno;
	if (mnl_socket_bind(client->nl, listen ? CONTROL_GROUP : 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	control_right_show(fd); /* if this fails, the daemon says that the right is missing */
	return 0;
}

static int open_here(struct control_client *client, bool listen, struct policy_error *error)
{
	int err = open_socket(client, listen);

	if (!err)
		return 0;
	return listen && err == -EPERM
		   ? policy_fail(error, err, "only with CAP_NET_ADMIN")
		   : policy_fail(error, err, "no netlink socket: %s", strerror(-err));
}

/* A socket belongs to the network namespace in which it was made, wherever its process is later. */
static int open_away(struct control_client *client, bool listen, struct policy_error *error)
{
	_cleanup_close_ int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int err = here < 0 ? -errno : netns_enter_cookie(client->home.cookie);

	if (err)
		return policy_fail(error, err,
				   "the ctxpropd that attends this network namespace runs in "
				   "another one, which cannot be entered: %s",
				   strerror(-err));
	err = open_here(client, listen, error);
	/* This process came from there and kept the right to setns(). */
	if (setns(here, CLONE_NEWNET))
		return policy_fail(error, -errno, "there is no way back: %s", strerror(errno));
	return err;
}

int control_client_open(bool listen, struct control_client **ret_client, struct policy_error *error)
{
	struct control_client *client = calloc(1, sizeof(*client));
	int err = client ? find_home(client) : -ENOMEM;

	if (err) {
		free(client);
		return policy_fail(error, err, "%s", strerror(-err));
	}
	client->rights = -1;
	client->listens = listen;
	client->sequence = (__u32)time(NULL);
	err = client->away ? open_away(client, listen, error) : open_here(client, listen, error);
	if (err)
		control_client_close(client);
	else
		*ret_client = client;
	return err;
}

bool control_client_is_away(const struct control_client *client)
{
	return client->away;
}

void control_client_close(struct control_client *client)
{
	if (!client)
		return;
	if (client->nl)
		mnl_socket_close(client->nl);
	if (client->rights >= 0)
		close(client->rights);
	free(client);
}

struct control_message *control_client_begin(struct control_client *client, __u16 type, __u16 flags)
{
	control_begin(&client->request, client->sent, sizeof(client->sent), type,
		      (__u16)(NLM_F_REQUEST | NLM_F_ACK | flags));
	client->request.header->nlmsg_seq = ++client->sequence;
	client->request.header->nlmsg_pid = mnl_socket_get_portid(client->nl);
	return &client->request;
}

static int send_request(struct control_client *client, struct policy_error *error)
{
	const struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_pid = client->port};
	const struct nlmsghdr *request = client->request.header;
	int err;

	if (sendto(mnl_socket_get_fd(client->nl), request, request->nlmsg_len, 0,
		   (const struct sockaddr *)&to, sizeof(to)) >= 0)
		return 0;
	err = -errno;
	if (err == -ECONNREFUSED)
		return policy_fail(error, err,
				   "no ctxpropd runs in this network namespace; start it, or name "
				   "another namespace by --netns");
	return policy_fail(error, err, "cannot be sent: %s", strerror(-err));
}

static bool is_admin(const struct control_client *client, const struct control_sender *sender)
{
	struct control_right right;

	return !control_right_of(client->rights, sender->port, &right) && right.admin;
}

/*
 * Anybody could take the daemon's port, or send to the group, so only root with CAP_NET_ADMIN is
 * trusted. A daemon that was started meanwhile may have another port.
 */
static bool is_daemon(struct control_client *client, const struct control_sender *sender,
		      struct policy_error *error)
{
	if (!sender->known || sender->uid) {
		policy_fail(error, -EACCES,
			    "what answers at the daemon's port does not belong to root: process "
			    "%d of user %u",
			    sender->pid, sender->uid);
		return false;
	}
	/*
	 * What a daemon sends as it ends may be read after it is gone; then its port was its own.
	 */
	if (!client->listens && !is_admin(client, sender)) {
		policy_fail(
		    error, -EACCES,
		    "what answers at the daemon's port has no CAP_NET_ADMIN over this "
		    "network namespace, or is an older ctxpropd, to be restarted: process %d",
		    sender->pid);
		return false;
	}
	if (sender->port != client->port)
		client->port = control_port_find(&client->home);
	if (sender->port == client->port) {
		client->daemon = sender->pid;
		return true;
	}
	policy_fail(error, -EACCES, "process %d has answered in the daemon's place", sender->pid);
	return false;
}

/* Receive one datagram, skipping those sent to the group that only shows rights. */
static ssize_t receive_told(struct control_client *client, struct control_sender *ret_sender)
{
	ssize_t size = -EAGAIN;

	for (int i = 0; i < NOISE_MAX; i++) {
		size = control_receive(mnl_socket_get_fd(client->nl), client->received,
				       sizeof(client->received), 0, ret_sender);
		if (size < 0 || ret_sender->groups != CONTROL_RIGHT_BIT)
			break;
	}
	return size;
}

/* Receive one datagram of the daemon. Returns its size or -errno. */
static ssize_t receive(struct control_client *client, struct policy_error *error)
{
	struct control_sender sender;
	ssize_t size = receive_told(client, &sender);

	if (size == -EAGAIN)
		return policy_fail(error, -ETIMEDOUT, "ctxpropd does not answer");
	if (size < 0)
		return policy_fail(error, (int)size, "no answer: %s", strerror((int)-size));
	if (!sender.whole)
		return policy_fail(error, -EMSGSIZE, "the answer is larger than expected");
	return is_daemon(client, &sender, error) ? size : -EACCES;
}

/* An acknowledgement, or an error with its text. */
static int read_status(const struct nlmsghdr *header, struct policy_error *error)
{
	const struct nlmsgerr *body = mnl_nlmsg_get_payload(header);
	size_t size = mnl_nlmsg_get_payload_len(header);
	const struct nlattr *attribute;

	if (size < sizeof(*body))
		return policy_fail(error, -EPROTO, "the answer is cut off");
	if (!body->error)
		return 0;
	policy_fail(error, body->error, "%s", strerror(-body->error));
	attribute = (const struct nlattr *)(body + 1);
	if (header->nlmsg_flags & NLM_F_ACK_TLVS &&
	    mnl_attr_ok(attribute, (int)(size - sizeof(*body))) &&
	    mnl_attr_get_type(attribute) == NLMSGERR_ATTR_MSG &&
	    mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) >= 0)
		policy_fail(error, body->error, "%s", mnl_attr_get_str(attribute));
	return body->error < 0 ? body->error : -EPROTO;
}

/* One message of the answer. Returns 1 to go on, 0 at the end, or -errno. */
static int read_message(const struct nlmsghdr *header, const struct control_visitor *visitor)
{
	int err;

	if (header->nlmsg_type == NLMSG_ERROR)
		return read_status(header, visitor->error);
	if (header->nlmsg_type == NLMSG_DONE)
		return 0;
	err = control_read(header, visitor);
	return err ? err : 1;
}

int control_client_ask(struct control_client *client, const struct control_visitor *visitor)
{
	int next = send_request(client, visitor->error);

	for (next = next ? next : 1; next == 1;) {
		const char *at = client->received;
		const struct nlmsghdr *header;
		ssize_t size = receive(client, visitor->error);
		size_t left = (size_t)size;

		if (size < 0)
			return (int)size;
		while (next == 1 && (header = control_next(&at, &left)))
			if (header->nlmsg_seq == client->sequence)
				next = read_message(header, visitor);
	}
	return next;
}

int control_client_tell(struct control_client *client, struct policy_error *error)
{
	static const struct timeval patience = {.tv_sec = TOLD_SECONDS};
	const struct control_visitor visitor = {.error = error};

	setsockopt(mnl_socket_get_fd(client->nl), SOL_SOCKET, SO_RCVTIMEO, &patience,
		   sizeof(patience));
	return control_client_ask(client, &visitor);
}

pid_t control_client_daemon(const struct control_client *client)
{
	return client->daemon;
}

int control_client_listen(struct control_client *client, const struct control_visitor *visitor,
			  __u16 *ret_type)
{
	const char *at = client->received;
	const struct nlmsghdr *header;
	ssize_t size = receive(client, visitor->error);
	size_t left;

	/* Skip what others send to the group. */
	while (size == -EACCES)
		size = receive(client, visitor->error);
	if (size < 0)
		return (int)size;
	left = (size_t)size;
	header = control_next(&at, &left);
	if (!header)
		return policy_fail(visitor->error, -EPROTO, "the notification is cut off");
	*ret_type = header->nlmsg_type;
	return control_read(header, visitor);
}
