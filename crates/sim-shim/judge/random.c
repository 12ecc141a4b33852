/* Random calls to the DRM core, the same for every kernel: one line per call with its arguments, errno and outputs.
 *
 *   random NODE SEED CALLS KIND [6.12]
 *
 * CALLS is a number, or @FILE with the numbers of the calls to make. KIND is one of the list at the end of this file. "6.12" leaves
 * out what came after that release. The calls do not depend on the answers, only the handles in them do, and each has random numbers
 * of its own: any part of a program is a program, so that a difference can be shrunk.
 * Compare the output of a run on Linux with one on a simulated device: every line that differs is a difference of the kernels.
 * Descriptors are printed as slots of a table, so numbers do not depend on what else is open. Build it statically for the judge,
 * dynamically to preload a simulator. All waits are polls or bounded, nothing depends on time. */
#include "judge.h"

int fds[SLOTS], drm, kept, old, rising;
uint32_t handles[8], buffers[8], names[4];
unsigned long call;
const char *node;
static uint64_t state;

uint32_t any(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % below;
}

uint32_t rare(uint32_t usual, uint32_t unusual) { return any(12) ? usual : unusual; }
uint32_t handle(void) { uint32_t k = any(10); return k < 8 ? handles[k] : k == 8 ? 0 : 77777; }
uint32_t buffer(void) { uint32_t k = any(10); return k < 8 ? buffers[k] : k == 8 ? 0 : 77777; }
int slot(void) { return (int)any(SLOTS); }

uint64_t point(void)
{
	static const uint64_t some[] = { 0, 1, 2, 3, 5, 8, 13, 21 };
	uint32_t which = any(8);

	return rising ? any(4 * (uint32_t)call + 2) : some[which];
}

uint64_t higher(void) { return rising ? 4 * call + 1 : point(); }

int go(const char *what, unsigned long request, void *argument)
{
	int result = ioctl(drm, request, argument) ? errno : 0;

	printf("%s errno %d", what, result);
	return result;
}

void keep(int fd)
{
	int at = kept;

	if (fds[at] >= 0)
		close(fds[at]);
	fds[at] = fd;
	printf(" kept %d cloexec %d", at, !!(fcntl(fd, F_GETFD) & FD_CLOEXEC));
}

/* Asks what some sync objects hold, and by halves if one of them is gone: a request takes long on both sides. */
static void ask_points(const uint32_t *list, int count, uint64_t *values, uint8_t *there)
{
	struct line l = { (uintptr_t)list, (uintptr_t)values, (uint32_t)count, 1 };
	int half = count / 2;

	if (!count)
		return;
	memset(there, 0, (size_t)count);
	if (!ioctl(drm, IOWR(0xcb, l), &l)) {
		memset(there, 1, (size_t)count);
	} else if (count > 1) {
		ask_points(list, half, values, there);
		ask_points(list + half, count - half, values + half, there + half);
	}
}

void points_now(void)
{
	/* Those that were there are asked at once. */
	static uint8_t was_there[8];
	uint32_t list[8];
	uint64_t values[8], value;
	uint8_t there[8];
	int count = 0;

	for (int i = 0; i < 8; i++)
		if (was_there[i])
			list[count++] = handles[i];
	ask_points(list, count, values, there);
	printf(" now");
	for (int i = 0, at = 0; i < 8; i++) {
		if (was_there[i]) {
			was_there[i] = there[at];
			value = values[at++];
		} else if (handles[i] != NOBODY) {
			ask_points(&handles[i], 1, &value, &was_there[i]);
		}
		if (was_there[i])
			printf(" %u:%lu", handles[i], (unsigned long)value);
		else
			printf(" -");
	}
}

void left(const uint8_t *argument, const uint32_t *before, int pointers)
{
	uint32_t sum = 0, after[64];

	memcpy(after, argument, sizeof(after));
	for (int i = 0; i < 64; i++)
		sum = sum * 31 + (after[i] == before[i] || (i < pointers && !after[i]) ? 0 : after[i] + 1);
	printf(" left %x", sum);
}

int close_handle(uint32_t handle)
{
	struct pair c = { handle, 0 };

	return ioctl(drm, IOW(0x09, c), &c) ? errno : 0;
}

static const struct { const char *name; void (*call)(void); } kinds[] = {
	{ "syncobj", syncobjs },
	/* Without points that are not above the newest. */
	{ "ordered", syncobjs },
	{ "prime", primes },
	/* BOs with several handles, of which one at a time is recorded for the dma-buf. */
	{ "twins", twins },
	/* Fences that are not signalled yet. */
	{ "fences", fences },
	{ "masters", masters },
	{ "passing", passing },
	{ "hostile", hostile },
	/* Needs a node with a display. */
	{ "modes", modes },
	{ "mangled", mangled },
	{ "maps", maps },
	{ "descriptors", descriptors },
	/* Needs a node with a display whose planes have colour pipelines. */
	{ "colours", colours },
};

static void make(uint64_t seed, void (*one)(void))
{
	state = (seed + 1) * 0x9e3779b97f4a7c15u ^ (call + 1) * 0xd1342543de82ef95u;
	for (int i = 0; i < 3; i++)
		any(1);
	kept = slot();
	printf("%lu ", call);
	one();
}

int main(int argc, char **argv)
{
	void (*one)(void) = NULL;
	uint64_t seed;

	if (argc < 5) {
		fprintf(stderr, "random NODE SEED CALLS KIND [6.12]\n");
		return 2;
	}
	node = argv[1];
	drm = open(node, O_RDWR | O_CLOEXEC);
	if (drm < 0) {
		perror(node);
		return 1;
	}
	seed = strtoull(argv[2], NULL, 0);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, argv[4]))
			one = kinds[i].call;
	if (!one) {
		fprintf(stderr, "%s: no such kind\n", argv[4]);
		return 2;
	}
	rising = !strcmp(argv[4], "ordered");
	old = argc > 5;
	memset(fds, -1, sizeof(fds));
	for (int i = 0; i < 8; i++)
		handles[i] = buffers[i] = NOBODY;
	for (int i = 0; i < 5; i++) {
		struct create c = { 0, i & 1 };
		if (!ioctl(drm, IOWR(0xbf, c), &c))
			handles[i] = c.handle;
	}
	/* Lines of a program that dies are lines too. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argv[3][0] == '@') {
		FILE *list = fopen(argv[3] + 1, "r");
		if (!list) {
			perror(argv[3] + 1);
			return 1;
		}
		while (fscanf(list, "%lu", &call) == 1)
			make(seed, one);
		fclose(list);
	} else {
		unsigned long calls = strtoul(argv[3], NULL, 0);
		for (call = 0; call < calls; call++)
			make(seed, one);
	}
	return 0;
}
