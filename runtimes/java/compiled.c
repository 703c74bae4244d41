// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>

#include "inspect/library.h"
#include "inspect/sandbox.h"
#include "inspect/confined.h"
#include "runtimes/java/compiled.h"
#include "runtimes/java/hotspot.h"
#include "runtimes/java/java.h"

#define LOOK_MS 1000 /* it takes some 20 ms */

/* Memory that the sandbox has, too. */
struct looking {
	__u32 tgid;
	int err; /* why there is no code */
	struct java_code code;
};

static int read_machine(const struct subject *subject, struct java_code *ret)
{
	_cleanup_library_ struct library library = {};
	struct hotspot_tables tables;
	struct hotspot hotspot;
	int err = library_open(subject, java_wanted[0].prefix, &library);

	if (err)
		return err;
	if (elf_image_machine(library.image) != EM_X86_64)
		return -ENOTSUP;
	hotspot_find(library.image, &tables);
	err = hotspot_open(subject->memory_fd, &tables, library.bias, &hotspot);
	return err ? err : hotspot_code(&hotspot, ret);
}

/* In the sandbox. */
static int look(int socket, void *shared)
{
	_cleanup_subject_ struct subject subject = SUBJECT_NONE;
	struct looking *looking = shared;
	int err;

	(void)socket;
	looking->err = subject_open(looking->tgid, java_wanted, JAVA_WANTED, &subject);
	if (looking->err)
		return 0;
	err = sandbox_confine();
	if (!err)
		looking->err = read_machine(&subject, &looking->code);
	return err;
}

int java_compiled_read(__u32 tgid, struct runtime_compiled *ret_compiled)
{
	struct looking *looking = confined_alloc(sizeof(*looking));
	int err;

	if (!looking)
		return -ENOMEM;
	looking->tgid = tgid;
	err = confined_call(look, looking, LOOK_MS);
	if (!err)
		err = looking->err;
	if (!err)
		ret_compiled->java = looking->code;
	confined_free(looking, sizeof(*looking));
	return err;
}
