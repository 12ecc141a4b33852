/* Random requests about colour pipelines: who sees them, their operations, values and blobs, in commits and one at a time. The plane is off,
 * for what it shows is the driver's affair. Of the operations, which are the driver's too, there are the first curve and the first matrix. */
#include "judge.h"
#include "modes.h"

enum { PLANE, CURVE, MATRIX, OBJECTS };
static const char *const words[OBJECTS] = { "plane", "curve", "matrix" };
static const uint32_t types[OBJECTS] = { 0xeeeeeeee, 0xfafafafa, 0xfafafafa };
static uint32_t ids[OBJECTS], first;

static const char *const prop_names[] = {
	"type", "COLOR_PIPELINE", "COLOR_ENCODING", "COLOR_RANGE", "TYPE", "BYPASS", "NEXT", "CURVE_1D_TYPE", "DATA",
};
#define PROPS ((int)(sizeof(prop_names) / sizeof(prop_names[0])))
enum { KIND, PIPELINE, ENCODING, RANGE, TYPE, BYPASS, NEXT, CURVE_TYPE, DATA };
static uint32_t prop_ids[OBJECTS][PROPS];

/* Files that see pipelines, and how luma is encoded; and blobs, of which the first two have the size of a matrix. */
static int all, luma, is_ready;
#define BLOBS 4
static uint32_t blobs[BLOBS];

static int on(int fd, unsigned long request, void *argument) { return ioctl(fd, request, argument) ? errno : 0; }

/* Lists the properties of an object that a file sees. Returns how many there are. */
static uint32_t list_of(int fd, uint32_t id, uint32_t type, uint32_t *list, uint64_t *values)
{
	struct properties p = { (uintptr_t)list, (uintptr_t)values, 64, id, type };

	return on(fd, IOWR(0xb9, p), &p) ? 0 : p.count < 64 ? p.count : 64;
}

/* Finds the properties of an object that a file sees by name. */
static void find(int fd, uint32_t id, uint32_t type, uint32_t *found, uint64_t *values)
{
	uint32_t list[64], count;
	uint64_t there[64];

	count = list_of(fd, id, type, list, there);
	for (uint32_t i = 0; i < count; i++) {
		struct property q = { 0, 0, list[i], 0, "", 0, 0 };
		on(fd, IOWR(0xaa, q), &q);
		for (int j = 0; j < PROPS; j++)
			if (!strcmp(q.name, prop_names[j])) {
				found[j] = list[i];
				values[j] = there[i];
			}
	}
}

static void tell(int property, uint64_t value);

/* Prints what a file sees of an object. How many properties a plane has is the driver's affair. */
static void see(int fd, int which, uint32_t id, uint32_t type)
{
	uint32_t list[64], count;
	uint64_t there[64];

	count = list_of(fd, id, type, list, there);
	printf(" %u:", which == PLANE ? !!count : count);
	for (int j = 0; j < PROPS; j++)
		for (uint32_t i = 0; i < count; i++)
			if (prop_ids[which][j] && list[i] == prop_ids[which][j]) {
				printf(" %d", j);
				tell(j, there[i]);
			}
}

static uint32_t blob_of(uint32_t length)
{
	static uint8_t data[256];
	struct blob b = { (uintptr_t)data, length, 0 };

	on(drm, IOWR(0xbd, b), &b);
	return b.id;
}

static int seeing(int pipelines)
{
	struct cap universal = { 2, 1 }, atomic = { 3, 1 }, seen = { 7, 1 };
	int fd = open(node, O_RDWR | O_CLOEXEC);

	on(fd, IOW(0x0d, universal), &universal);
	on(fd, IOW(0x0d, atomic), &atomic);
	if (pipelines)
		printf("pipelines errno %d ", on(fd, IOW(0x0d, seen), &seen));
	return fd;
}

static void find_objects(void)
{
	static const uint32_t lengths[BLOBS] = { 96, 96, 95, 192 };
	uint32_t list[64], op;
	struct planes planes = { (uintptr_t)list, 64 };
	struct cap atomic = { 3, 1 };

	all = seeing(1);
	luma = seeing(0);
	on(all, IOWR(0xb5, planes), &planes);
	for (uint32_t i = 0; i < planes.count && i < 64 && !ids[PLANE]; i++) {
		uint32_t found[PROPS] = { 0 };
		uint64_t values[PROPS] = { 0 };
		find(all, list[i], types[PLANE], found, values);
		find(luma, list[i], types[PLANE], found, values);
		if (values[KIND] != 1)
			continue;
		ids[PLANE] = list[i];
		memcpy(prop_ids[PLANE], found, sizeof(found));
	}
	/* The names of pipelines are those of their first operations. */
	uint64_t choices[8] = { 0 };
	struct property q = { (uintptr_t)choices, 0, prop_ids[PLANE][PIPELINE], 0, "", 8, 0 };
	on(all, IOWR(0xaa, q), &q);
	first = (uint32_t)choices[1];
	for (op = first; op;) {
		uint32_t found[PROPS] = { 0 };
		uint64_t values[PROPS] = { 0 };
		find(all, op, types[CURVE], found, values);
		int which = values[TYPE] == 0 ? CURVE : values[TYPE] == 2 ? MATRIX : PLANE;
		if (which != PLANE && !ids[which]) {
			ids[which] = op;
			memcpy(prop_ids[which], found, sizeof(found));
		}
		op = (uint32_t)values[NEXT];
	}
	for (int i = 0; i < BLOBS; i++)
		blobs[i] = blob_of(lengths[i]);
	on(drm, IOW(0x0d, atomic), &atomic);
	/* Drivers begin with other values. */
	for (int j = ENCODING; j <= RANGE; j++) {
		struct set_object s = { 0, prop_ids[PLANE][j], ids[PLANE], types[PLANE] };
		printf("%s errno %d ", prop_names[j], on(drm, IOWR(0xba, s), &s));
	}
	printf("plane %d curve %d matrix %d ", ids[PLANE] != 0, ids[CURVE] != 0, ids[MATRIX] != 0);
}

/* Prints a value, with what it stands for instead of a number. */
static void tell(int property, uint64_t value)
{
	int blob = -1;

	for (int i = 0; i < BLOBS; i++)
		if (value && value == blobs[i])
			blob = i;
	if (property == DATA)
		printf(" blob %d", value ? blob : -2);
	else if (property == PIPELINE || property == NEXT)
		printf(" %s", !value ? "none" : value == first ? "first" : "some");
	else
		printf(" %lu", (unsigned long)value);
}

/* Returns a property of an object, most often one that it has, and a value, most often one that it takes. */
static uint32_t random_property(int which, uint64_t *value)
{
	static const int of[OBJECTS][3] = { { PIPELINE, ENCODING, RANGE }, { BYPASS, CURVE_TYPE, TYPE }, { BYPASS, DATA, DATA } };
	int owner = (int)rare((uint32_t)which, any(OBJECTS)), property = any(10) ? of[owner][any(3)] : (int)any(PROPS);

	/* Each operation of Linux has properties of its own; those of the simulator share what has the same name. */
	if (owner != which && owner != PLANE && which != PLANE && property != CURVE_TYPE)
		owner = which;
	switch (property) {
	case PIPELINE: *value = rare(any(2) ? first : 0, any(2) ? ids[MATRIX] : 999999); break;
	case DATA: *value = any(3) ? blobs[any(BLOBS)] : rare(0, any(2) ? 999999 : ids[PLANE]); break;
	/* Of the curves, all have the first one alone. */
	case CURVE_TYPE: *value = rare(0, 99); break;
	default: *value = any(12) ? any(2 + (property == ENCODING)) : any(2) ? 3 : 1ull << 40;
	}
	printf(" %s of %s", prop_names[property], words[owner]);
	tell(property, *value);
	return any(20) ? prop_ids[owner][property] : 999999;
}

static void commit(void)
{
	uint32_t objects[3], counts[3], props[9], n = 1 + any(3), used = 0;
	uint64_t values[9];
	/* Only a test, without waiting, or with changes of the mode, which there are none of. */
	uint32_t flags = (any(3) ? 0 : 0x100) | (any(3) ? 0 : 0x400);
	/* A commit that does not wait is busy as long as the one before it is, which is a matter of time: so tests alone. */
	if (flags & 0x100 && !any(3))
		flags |= 0x200;

	printf("flags %x", flags);
	for (uint32_t i = 0; i < n; i++) {
		int which = (int)any(OBJECTS);
		objects[i] = rare(ids[which], any(2) ? 999999 : ids[PLANE]);
		printf(" %s%s", words[which], objects[i] == ids[which] ? "" : "?");
		counts[i] = 1 + any(3);
		for (uint32_t j = 0; j < counts[i]; j++) {
			props[used] = random_property(which, &values[used]);
			used++;
		}
	}
	struct atomic a = { flags, n, (uintptr_t)objects, (uintptr_t)counts, (uintptr_t)props, (uintptr_t)values, 0, 0 };
	putchar(' ');
	go("atomic", IOWR(0xbc, a), &a);
}

void colours(void)
{
	int which = (int)any(OBJECTS);

	if (!is_ready) {
		is_ready = 1;
		find_objects();
	}
	switch (any(12)) {
	case 0: case 1: {
		struct cap c = { any(3) ? 7 : 2 + any(2), rare(any(3) ? 1 : 0, 2 + any(2)) };
		printf("cap %lu value %lu ", (unsigned long)c.cap, (unsigned long)c.value);
		go("set-client-cap", IOW(0x0d, c), &c);
		break;
	}
	case 2: case 3: {
		uint32_t type = rare(types[which], any(2) ? 0 : types[any(OBJECTS)]);
		printf("see %s type %x", words[which], type);
		see(drm, which, rare(ids[which], 999999), type);
		break;
	}
	case 4: {
		uint64_t choices[8] = { 0 };
		int property = (int)any(PROPS);
		struct property q = { (uintptr_t)choices, 0, prop_ids[which][property], 0, "", 8, 0 };
		printf("%s of %s ", prop_names[property], words[which]);
		go("get-property", IOWR(0xaa, q), &q);
		/* Which curves there are is the driver's affair. */
		printf(" flags %x values %u enums %u", q.flags, property == CURVE_TYPE ? 0 : q.nvalues, property == CURVE_TYPE ? 0 : q.nenums);
		break;
	}
	case 5: case 6: {
		struct set_object s = { 0, 0, ids[which], rare(types[which], any(2) ? 0 : types[any(OBJECTS)]) };
		printf("%s type %x", words[which], s.type);
		s.property = random_property(which, &s.value);
		putchar(' ');
		go("set-object-property", IOWR(0xba, s), &s);
		break;
	}
	default:
		commit();
	}
	printf(" now");
	for (int i = 0; i < OBJECTS; i++)
		see(all, i, ids[i], types[i]);
	see(luma, PLANE, ids[PLANE], types[PLANE]);
	putchar('\n');
}
