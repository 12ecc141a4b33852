/* Random requests about displays: objects, properties, blobs, framebuffers, commits, leases, vertical blanks. Objects are named by what
 * they are, for their numbers differ: the first CRTC, its primary and cursor plane, and the connector that has a display. */
#include <time.h>

#include "judge.h"
#include "modes.h"

#define WIDTH 1024
#define HEIGHT 768
#define XRGB 0x34325258

enum { CRTC, CONNECTOR, PRIMARY, CURSOR, OBJECTS };
static const char *const words[OBJECTS] = { "crtc", "connector", "primary", "cursor" };
static const uint32_t types[OBJECTS] = { 0xcccccccc, 0xc0c0c0c0, 0xeeeeeeee, 0xeeeeeeee };
static uint32_t ids[OBJECTS], encoder_id;
static struct mode the_mode;
static int is_ready, other, lessees[3] = { -1, -1, -1 };
static uint32_t fb_slots[4], blob_slots[4], lessee_ids[3], screen_bo, mode_blob;

static const char *const prop_names[] = {
	"FB_ID", "CRTC_ID", "CRTC_X", "CRTC_Y", "CRTC_W", "CRTC_H", "SRC_X", "SRC_Y", "SRC_W", "SRC_H", "IN_FENCE_FD", "ACTIVE", "MODE_ID",
	"OUT_FENCE_PTR", "type", "GAMMA_LUT", "DPMS", "link-status",
};
#define PROPS ((int)(sizeof(prop_names) / sizeof(prop_names[0])))
static uint32_t prop_ids[OBJECTS][PROPS];

static int on(int fd, unsigned long request, void *argument) { return ioctl(fd, request, argument) ? errno : 0; }

static void find_properties(int which)
{
	uint32_t list[64];
	uint64_t values[64];
	struct properties p = { (uintptr_t)list, (uintptr_t)values, 64, ids[which], types[which] };

	if (on(drm, IOWR(0xb9, p), &p))
		return;
	for (uint32_t i = 0; i < p.count && i < 64; i++) {
		struct property q = { 0, 0, list[i], 0, "", 0, 0 };
		on(drm, IOWR(0xaa, q), &q);
		for (int j = 0; j < PROPS; j++)
			if (!strcmp(q.name, prop_names[j]))
				prop_ids[which][j] = list[i];
	}
}

static uint64_t value_of(int fd, int which, const char *name)
{
	uint32_t list[64];
	uint64_t values[64];
	struct properties p = { (uintptr_t)list, (uintptr_t)values, 64, ids[which], types[which] };

	if (on(fd, IOWR(0xb9, p), &p))
		return 0;
	for (int j = 0; j < PROPS; j++)
		for (uint32_t i = 0; i < p.count && i < 64; i++)
			if (!strcmp(name, prop_names[j]) && list[i] == prop_ids[which][j])
				return values[i];
	return 0;
}

static void find_objects(void)
{
	uint32_t crtcs[16], connectors[16], encoders[16], list[64];
	struct resources r = { 0, (uintptr_t)crtcs, (uintptr_t)connectors, (uintptr_t)encoders, 0, 16, 16, 16, 0, 0, 0, 0 };
	struct planes all = { (uintptr_t)list, 64 };
	struct cap universal = { 2, 1 }, atomic = { 3, 1 };
	struct dumb d = { HEIGHT, WIDTH, 32, 0, 0, 0, 0 };

	on(drm, IOW(0x0d, universal), &universal);
	on(drm, IOW(0x0d, atomic), &atomic);
	on(drm, IOWR(0xa0, r), &r);
	ids[CRTC] = crtcs[0];
	encoder_id = encoders[0];
	for (uint32_t i = 0; i < r.nconnectors && i < 16; i++) {
		static struct mode modes_there[128];
		struct connector c = { 0 };
		c.id = connectors[i];
		on(drm, IOWR(0xa7, c), &c);
		if (c.connection != 1 || c.type == 18)
			continue;
		ids[CONNECTOR] = c.id;
		c.modes = (uintptr_t)modes_there;
		c.nmodes = c.nmodes > 128 ? 128 : c.nmodes;
		c.nprops = c.nencoders = 0;
		on(drm, IOWR(0xa7, c), &c);
		for (uint32_t m = 0; m < c.nmodes; m++)
			if (modes_there[m].h[0] == WIDTH && modes_there[m].v[0] == HEIGHT)
				the_mode = modes_there[m];
		break;
	}
	on(drm, IOWR(0xb5, all), &all);
	/* The type is property 14 of the list. */
	for (uint32_t i = 0; i < all.count && i < 64; i++) {
		struct plane p = { list[i], 0, 0, 0, 0, 0, 0 };
		on(drm, IOWR(0xb6, p), &p);
		if (!(p.possible & 1))
			continue;
		ids[OBJECTS - 1] = list[i];
		memset(prop_ids[CURSOR], 0, sizeof(prop_ids[CURSOR]));
		find_properties(CURSOR);
		uint64_t type = value_of(drm, CURSOR, "type");
		if (type == 1 && !ids[PRIMARY])
			ids[PRIMARY] = list[i];
		if (type == 2)
			break;
	}
	for (int i = 0; i < OBJECTS; i++)
		find_properties(i);
	on(drm, IOWR(0xb2, d), &d);
	screen_bo = d.handle;
	struct fb f = { 0, WIDTH, HEIGHT, XRGB, 0, { screen_bo }, { d.pitch }, { 0 }, { 0 } };
	on(drm, IOWR(0xb8, f), &f);
	fb_slots[0] = f.id;
	struct blob b = { (uintptr_t)&the_mode, sizeof(the_mode), 0 };
	on(drm, IOWR(0xbd, b), &b);
	mode_blob = b.id;
	other = open(node, O_RDWR | O_CLOEXEC);
	printf("crtc %d connector %d primary %d cursor %d mode %d ", ids[CRTC] != 0, ids[CONNECTOR] != 0, ids[PRIMARY] != 0, ids[CURSOR] != 0,
	       the_mode.h[0]);
}

/* An object by name, none, or one that nobody has. */
static uint32_t object(int *which)
{
	uint32_t k = any(8);

	*which = k < 5 ? (int)k % OBJECTS : -1;
	printf(" %s", k < 5 ? words[*which] : k == 5 ? "none" : k == 6 ? "unknown" : "framebuffer");
	return k < 5 ? ids[*which] : k == 5 ? 0 : k == 6 ? 999999 : fb_slots[0];
}

static void add_fb(void)
{
	static const uint32_t formats[] = { XRGB, XRGB, XRGB, 0, 0x12345678, XRGB | 0x80000000 };
	struct fb f = { 0, rare(WIDTH, 0), rare(HEIGHT, 0), formats[any(6)], rare(0, any(8)), { screen_bo }, { WIDTH * 4 }, { 0 }, { 0 } };

	switch (any(14)) {
	case 0: f.pitches[0] = any(2) ? WIDTH * 4 - 4 : 0; break;
	case 1: f.handles[0] = any(2) ? 77777 : 0; break;
	case 2: f.handles[1] = screen_bo; break;
	case 3: f.pitches[1] = 4; break;
	case 4: f.offsets[1] = 4; break;
	case 5: f.modifiers[0] = any(2) ? 0x7f : 0xffffffffffffff; break;
	case 6: f.modifiers[1] = 1; break;
	case 7: f.h = HEIGHT * 2; break;
	case 8: f.offsets[0] = 0xfffffffc; break;
	case 9: f.handles[2] = 1; f.flags = any(2) * 2; break;
	case 10: f.pitches[0] = 0xfffffff0; break;
	}
	printf("%ux%u format %x flags %u pitch %u offset %x second %d %u %u third %u modifiers %lx %lx ", f.w, f.h, f.format, f.flags, f.pitches[0],
	       f.offsets[0], f.handles[1] != 0, f.pitches[1], f.offsets[1], f.handles[2], (unsigned long)f.modifiers[0],
	       (unsigned long)f.modifiers[1]);
	if (!go("addfb2", IOWR(0xb8, f), &f))
		fb_slots[1 + any(3)] = f.id;
}

static uint32_t fb_any(void)
{
	uint32_t k = any(7);

	printf(" fb %u", k);
	return k < 4 ? fb_slots[k] : k == 4 ? 0 : k == 5 ? 999999 : ids[CRTC];
}

static void blobs(void)
{
	static uint8_t data[8192];
	uint32_t k = any(4), id = any(5) ? blob_slots[k] : rare(999999, ids[CRTC]);

	switch (any(3)) {
	case 0: {
		static const uint32_t lengths[] = { 0, 1, 16, 68, 69, 4096, 0x7fffffff, 0x80000000, 0xffffffff };
		struct blob b = { any(6) ? (uintptr_t)data : 8, lengths[any(9)], 0 };
		/* The largest takes all the kernel's memory. */
		if (b.length == 0x7fffffff)
			b.length = 2000;
		data[0] = (uint8_t)call;
		printf("length %u bad %d ", b.length, b.data == 8);
		if (!go("create-blob", IOWR(0xbd, b), &b))
			blob_slots[k] = b.id;
		break;
	}
	case 1: {
		uint32_t foreign = rare(0, 1);
		int result = on(foreign ? other : drm, IOWR(0xbe, id), &id);
		printf("foreign %u errno-of-destroy %d", foreign, result);
		/* Its number is given to others. */
		for (int i = 0; i < 4 && !result; i++)
			if (blob_slots[i] == id)
				blob_slots[i] = 999999;
		break;
	}
	default: {
		struct get_blob g = { id, any(2) ? 16 : 0, any(6) ? (uintptr_t)data : 8 };
		data[0] = 77;
		printf("length %u bad %d ", g.length, g.data == 8);
		go("get-blob", IOWR(0xac, g), &g);
		printf(" length %u first %u", g.length, data[0]);
	}
	}
}

/* A commit of some properties, most of them right. */
static void commit(void)
{
	uint32_t objs[4], counts[4], props[16], n = 0, np = 0;
	uint64_t values[16];
	uint32_t flags = 0x100;
	int real = !any(6), lights = any(2), wrong = (int)any(10);
	struct atomic a;
	uint64_t full = lights ? WIDTH : 0, tall = lights ? HEIGHT : 0;

#define SET(which, name, what) do { \
	for (int j = 0; j < PROPS; j++) \
		if (!strcmp(name, prop_names[j])) \
			props[np] = prop_ids[which][j]; \
	values[np++] = (uint64_t)(what); counts[n]++; } while (0)
	objs[n] = ids[CONNECTOR]; counts[n] = 0;
	SET(CONNECTOR, "CRTC_ID", lights ? ids[CRTC] : 0);
	if (wrong == 1)
		values[np - 1] = any(2) ? ids[PRIMARY] : 999999;
	n++;
	objs[n] = ids[CRTC]; counts[n] = 0;
	SET(CRTC, "MODE_ID", lights ? mode_blob : 0);
	if (wrong == 2)
		values[np - 1] = any(2) ? blob_slots[any(4)] : fb_slots[0];
	SET(CRTC, "ACTIVE", lights);
	if (wrong == 3)
		values[np - 1] = any(2) ? 2 : !lights;
	n++;
	objs[n] = ids[PRIMARY]; counts[n] = 0;
	SET(PRIMARY, "FB_ID", lights ? fb_slots[0] : 0);
	if (wrong == 4)
		values[np - 1] = any(3) ? (any(2) ? mode_blob : 999999) : 0;
	SET(PRIMARY, "CRTC_ID", lights ? ids[CRTC] : 0);
	if (wrong == 5)
		values[np - 1] = any(2) ? 0 : ids[CONNECTOR];
	SET(PRIMARY, "SRC_X", 0); SET(PRIMARY, "SRC_Y", 0);
	SET(PRIMARY, "SRC_W", full << 16); SET(PRIMARY, "SRC_H", tall << 16);
	if (wrong == 6)
		values[np - 1 - any(4)] = any(2) ? 0x7fffffff : (WIDTH + 1) << 16;
	SET(PRIMARY, "CRTC_X", 0); SET(PRIMARY, "CRTC_Y", 0); SET(PRIMARY, "CRTC_W", full); SET(PRIMARY, "CRTC_H", tall);
	if (wrong == 7)
		values[np - 1 - any(2)] = any(2) ? 0x80000000u : 0xffffffffu;
	if (wrong == 8)
		props[any(np)] = any(2) ? 999999 : prop_ids[CONNECTOR][any(PROPS)];
	n++;
	if (wrong == 9)
		switch (any(7)) {
		case 0: flags |= 0x8000; break;
		case 1: flags |= 1; break;
		case 2: flags &= ~0x100u; break;
		case 3: objs[any(n)] = 999999; break;
		case 4: objs[any(n)] = fb_slots[0]; break;
		/* A CRTC without its primary plane is the affair of drivers. */
		case 5: counts[any(2)] = any(2) ? 0 : 100; np = 0; break;
		case 6: objs[2] = ids[CRTC]; break;
		}
	if (!real)
		flags |= 0x400;
	a = (struct atomic) { flags, rare(n, any(2)), (uintptr_t)objs, (uintptr_t)counts, (uintptr_t)props, (uintptr_t)values,
			      rare(0, 1), 0 };
	if (counts[0] == 100 || counts[1] == 100 || counts[2] == 100)
		a.props = a.values = 8;
	printf("lights %d wrong %d flags %x objects %u ", lights, wrong, flags, a.objects);
	go("atomic", IOWR(0xbc, a), &a);
#undef SET
}

static void leases(void)
{
	uint32_t k = any(3), list[4] = { ids[CRTC], ids[CONNECTOR], ids[PRIMARY], ids[CURSOR] }, count = rare(3 + any(2), any(5));

	switch (any(6)) {
	case 0: case 1: {
		struct lease l = { (uintptr_t)list, count, rare(O_CLOEXEC, any(2) ? O_NONBLOCK : 1), 0, -7 };
		int lent = 0;
		if (!any(6))
			list[any(4)] = any(2) ? 999999 : any(2) ? fb_slots[0] : list[0];
		printf("objects %u flags %x ", l.count, l.flags);
		if (!go("create-lease", IOWR(0xc6, l), &l)) {
			if (lessees[k] >= 0)
				close(lessees[k]);
			lessees[k] = l.fd;
			lessee_ids[k] = l.lessee;
			lent = 1;
		}
		printf(" lent %d as %u", lent, l.lessee);
		break;
	}
	case 2: {
		uint32_t there[8] = { 0 };
		struct list l = { 8, rare(0, 1), (uintptr_t)there };
		go("list-lessees", IOWR(0xc7, l), &l);
		printf(" count %u %u %u", l.count, there[0], there[1]);
		break;
	}
	case 3: {
		struct list l = { 0, rare(0, 1), 0 };
		printf("lessee %u errno %d", k, lessees[k] < 0 ? -1 : on(lessees[k], IOWR(0xc8, l), &l));
		printf(" get-lease count %u", lessees[k] < 0 ? 0 : l.count);
		break;
	}
	case 4: {
		uint32_t id = any(5) ? lessee_ids[k] : 99;
		printf("revoke %u ", id);
		go("revoke", IOWR(0xc9, id), &id);
		break;
	}
	default:
		if (any(2) && lessees[k] >= 0) {
			close(lessees[k]);
			lessees[k] = -1;
			printf("close lessee %u", k);
		} else if (lessees[k] >= 0) {
			struct resources r = { 0 };
			struct crtc c = { 0 };
			c.id = ids[CRTC];
			printf("lessee %u resources %d crtcs ", k, on(lessees[k], IOWR(0xa0, r), &r));
			printf("%u connectors %u crtc %d", r.ncrtcs, r.nconnectors, on(lessees[k], IOWR(0xa1, c), &c));
		}
	}
}

static void looks(void)
{
	int which = -1;

	switch (any(8)) {
	case 0: {
		struct crtc c = { 0 };
		c.id = object(&which);
		go(" get-crtc", IOWR(0xa1, c), &c);
		if (which == CRTC)
			printf(" valid %u fb %d mode %u", c.valid, c.fb != 0, c.mode.h[0]);
		break;
	}
	case 1: {
		struct plane p = { 0 };
		p.id = object(&which);
		go(" get-plane", IOWR(0xb6, p), &p);
		if (which == PRIMARY)
			printf(" crtc %d fb %d", p.crtc == ids[CRTC], p.fb != 0);
		break;
	}
	case 2: {
		struct encoder e = { 0 };
		e.id = any(2) ? encoder_id : object(&which);
		go(" get-encoder", IOWR(0xa6, e), &e);
		break;
	}
	case 3: {
		struct connector c = { 0 };
		static struct mode one;
		/* A list that is too short is not written; one that is just right is. */
		c.nmodes = 1;
		c.modes = (uintptr_t)&one;
		c.id = object(&which);
		go(" get-connector", IOWR(0xa7, c), &c);
		if (which == CONNECTOR)
			printf(" connection %u pad %u", c.connection, c.pad);
		break;
	}
	case 4: {
		struct properties p = { 0, 0, 0, object(&which), any(3) ? types[any(4)] : rare(0, 0xfbfbfbfb) };
		printf(" type %x", p.type);
		go(" properties", IOWR(0xb9, p), &p);
		break;
	}
	case 5: {
		static const uint8_t plain[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 };
		uint64_t values[8] = { 0 };
		struct property p = { (uintptr_t)values, 0, 999999, 0, "", 8, 0 };
		uint32_t name = plain[any(13)];
		which = (int)any(OBJECTS);
		if (any(5))
			p.id = prop_ids[which][name];
		printf("%s of %s", prop_names[name], words[which]);
		go(" get-property", IOWR(0xaa, p), &p);
		printf(" %s flags %x values %u %ld %ld", p.name, p.flags, p.nvalues, (long)(p.id ? values[0] : 0), (long)(p.id ? values[1] : 0));
		break;
	}
	case 6: {
		struct old_fb f = { fb_any(), 0, 0, 0, 0, 0, 0 };
		go(" get-fb", IOWR(0xad, f), &f);
		printf(" %ux%u pitch %u bpp %u depth %u handle %d", f.w, f.h, f.pitch, f.bpp, f.depth, f.handle != 0);
		if (f.handle && f.handle != screen_bo)
			close_handle(f.handle);
		break;
	}
	default: {
		uint32_t k = 1 + any(3), id = any(4) ? fb_slots[k] : rare(999999, ids[CRTC]), closes = any(2);
		uint32_t pair[2] = { id, closes ? rare(0, 1) : 0 };
		printf("fb %u pad %u", k, pair[1]);
		if (!(closes ? go(" close-fb", _IOC(3, 'd', 0xd0, 8), pair) : go(" remove-fb", _IOC(3, 'd', 0xaf, 4), &id)))
			for (int i = 1; i < 4; i++)
				if (fb_slots[i] == id)
					fb_slots[i] = 999999;
	}
	}
}

static void sets(void)
{
	int which = -1;

	switch (any(8)) {
	case 0: {
		struct crtc c = { 0 };
		uint32_t list[2] = { ids[CONNECTOR], 999999 };
		c.connectors = (uintptr_t)list;
		c.id = any(4) ? ids[CRTC] : object(&which);
		c.valid = any(2);
		c.count = rare(c.valid, any(4) * 40);
		c.fb = any(3) ? fb_slots[0] : any(2) ? 0xffffffff : 0;
		c.mode = the_mode;
		if (c.valid && !any(3))
			c.x = 5;
		if (any(5) == 0)
			c.mode.h[any(5)] = 0;
		printf(" valid %u count %u fb %d x %u h %u", c.valid, c.count, c.fb == 0xffffffff ? -1 : c.fb != 0, c.x, c.mode.h[0]);
		go(" set-crtc", IOWR(0xa2, c), &c);
		break;
	}
	case 1: {
		struct flip f = { any(3) ? ids[CRTC] : object(&which), any(2) ? fb_slots[0] : fb_any(), rare(0, 16 + any(4)), rare(0, 1), 0 };
		printf(" flags %u reserved %u", f.flags, f.reserved);
		/* Until the next vertical blank another one is refused. */
		struct timespec blank = { 0, 50000000 };
		if (!go(" page-flip", IOWR(0xb0, f), &f)) {
			nanosleep(&blank, NULL);
			/* Whether a CRTC stays on when its framebuffer is removed is the driver's affair. That of slot 0 is not. */
			if (f.fb != fb_slots[0]) {
				f.fb = fb_slots[0];
				printf(" back errno %d", on(drm, IOWR(0xb0, f), &f));
				nanosleep(&blank, NULL);
			}
		}
		break;
	}
	case 2: {
		struct set_plane p = { any(3) ? ids[PRIMARY] : object(&which), any(3) ? ids[CRTC] : 999999, 999999, 0, 0, 0, WIDTH, HEIGHT, 0, 0,
				       HEIGHT << 16, WIDTH << 16 };
		printf(" crtc %d fb %u", p.crtc == ids[CRTC], p.fb);
		go(" set-plane", IOWR(0xb7, p), &p);
		break;
	}
	case 3: {
		struct set_object s = { any(3), any(2) ? prop_ids[PRIMARY][any(PROPS)] : 999999, object(&which), any(3) ? types[any(4)] : 0 };
		/* Scaling is the driver's affair. */
		printf(" value %lu type %x", (unsigned long)s.value, s.type);
		if (which >= 0 && s.property != 999999)
			s.property = prop_ids[which][14];
		go(" set-object-property", IOWR(0xba, s), &s);
		break;
	}
	case 4: {
		static uint16_t ramp[256];
		struct lut l = { any(2) ? ids[CRTC] : object(&which), rare(256, any(2) * 255), (uintptr_t)ramp, (uintptr_t)ramp, any(6) ? (uintptr_t)ramp : 8 };
		printf(" size %u bad %d", l.size, l.b == 8);
		/* Reading a table is not judged: drivers without one keep another. */
		go(" set-gamma", IOWR(0xa5, l), &l);
		break;
	}
	case 5: {
		struct cursor c = { rare(1 + any(2), any(2) ? 0 : 4), any(2) ? ids[CRTC] : object(&which), 0, 0, 64, 64, any(2) ? 0 : 77777 };
		printf(" flags %u handle %u", c.flags, c.handle);
		go(" cursor", IOWR(0xa3, c), &c);
		break;
	}
	case 6: {
		struct { uint32_t fb, flags, color, count; uint64_t clips; } d = { fb_any(), rare(0, any(8)), 0, rare(0, 1), 0 };
		/* Not every driver has something to do. */
		for (int i = 0; i < 4; i++)
			if (d.fb == fb_slots[i])
				d.fb = 999999;
		printf(" flags %u clips %u", d.flags, d.count);
		go(" dirty", IOWR(0xb1, d), &d);
		break;
	}
	default: {
		uint32_t k = any(3);
		struct cap c = { any(2) ? 8 + any(4) : rare(any(4), 5), 2 + any(3) };
		if (k)
			c.value = any(2);
		/* What is on stays on for the rest of the program. */
		if (c.cap <= 3 && c.cap && c.value == 0)
			c.value = 1;
		/* Pipelines of planes are the driver's. */
		printf("cap %lu value %lu", (unsigned long)c.cap, (unsigned long)c.value);
		go(" set-client-cap", IOW(0x0d, c), &c);
	}
	}
}

/* Lists with too little room or bad addresses, and requests that others have taken the place of. */
static void lists(void)
{
	static const uint32_t room[] = { 0, 1, 64, 64 };
	uint32_t list[64], count = room[any(4)];
	uint64_t values[64], there = any(4) ? (uintptr_t)list : any(2) ? 8 : 0;
	int which = -1;

	switch (any(8)) {
	case 0: {
		static const struct { uint32_t bpp, depth; } shapes[] = { { 32, 24 }, { 32, 24 }, { 32, 32 }, { 16, 16 }, { 32, 7 }, { 0, 0 }, { 99, 24 } };
		uint32_t shape = any(7);
		struct old_fb f = { 0, rare(WIDTH, 0), rare(HEIGHT, any(2) ? 0 : 2 * HEIGHT), rare(WIDTH * 4, any(2) * 8), shapes[shape].bpp,
				    shapes[shape].depth, rare(screen_bo, any(2) * 77777) };
		printf("%ux%u pitch %u bpp %u depth %u known %d ", f.w, f.h, f.pitch, f.bpp, f.depth, f.handle == screen_bo);
		if (!go("addfb", IOWR(0xae, f), &f))
			fb_slots[1 + any(3)] = f.id;
		break;
	}
	case 1: {
		struct fb f = { fb_any(), 0, 0, 0, 0, { 0 }, { 0 }, { 0 }, { 0 } };
		/* Whether a framebuffer has a modifier is the driver's affair. */
		go(" getfb2", IOWR(0xce, f), &f);
		printf(" %ux%u format %x pitch %u handle %d second %d", f.w, f.h, f.format, f.pitches[0], f.handles[0] != 0, f.handles[1] != 0);
		if (f.handles[0] && f.handles[0] != screen_bo)
			close_handle(f.handles[0]);
		break;
	}
	case 2: {
		struct { struct cursor c; int32_t hot_x, hot_y; } c = {
			{ rare(1 + any(2), any(2) ? 0 : 4), any(2) ? ids[CRTC] : object(&which), 0, 0, 64, 64, any(2) ? 0 : 77777 }, 3, 4 };
		printf(" flags %u handle %u", c.c.flags, c.c.handle);
		go(" cursor2", IOWR(0xbb, c), &c);
		break;
	}
	case 3: {
		struct { uint64_t value; uint32_t property, connector; } s = { any(5), any(3) ? 999999 : prop_ids[PRIMARY][0], 0 };
		s.connector = any(2) ? ids[CONNECTOR] : object(&which);
		printf(" value %lu property %d", (unsigned long)s.value, s.property != 999999);
		go(" set-property", IOWR(0xab, s), &s);
		break;
	}
	case 4: {
		/* The driver has as many as it has, but at least one of each. */
		struct resources r = { any(2) ? there : 0, 0, 0, 0, any(2) * count, 0, 0, 0, 0, 0, 0, 0 };
		uint32_t of = any(3);
		(&r.crtcs)[of] = there;
		(&r.ncrtcs)[of] = count;
		printf(" room %u real %d of %u", count, there > 8, of);
		go(" resources", IOWR(0xa0, r), &r);
		break;
	}
	case 5: {
		struct planes p = { there, count };
		printf(" room %u real %d", count, there > 8);
		go(" plane-resources", IOWR(0xb5, p), &p);
		break;
	}
	case 6: {
		struct properties p = { there, any(2) ? (uintptr_t)values : 8, count, ids[any(OBJECTS)], 0xcccccccc };
		if (any(4))
			p.type = 0;
		printf(" room %u real %d values %d", count, there > 8, p.values > 8);
		go(" properties", IOWR(0xb9, p), &p);
		break;
	}
	default: {
		static const uint64_t caps[] = { 0, 1, 2, 5, 6, 0x12, 0x99, 0x100000006 };
		struct { uint32_t connector; struct mode m; } attach = { ids[CONNECTOR], the_mode };
		if (any(2)) {
			struct cap c = { caps[any(8)], 77 };
			printf("cap %lx", (unsigned long)c.cap);
			go(" get-cap", IOWR(0x0c, c), &c);
			printf(" value %lu", (unsigned long)c.value);
		} else {
			go(" attach", IOWR((any(2) ? 0xa8 : 0xa9), attach), &attach);
		}
	}
	}
}

static void blanks(void)
{
	int which = -1;

	switch (any(3)) {
	case 0: {
		struct vblank v = { rare(1, any(2) ? 0x80000001u : 3) | rare(0, any(2) ? 0x3e : 0x02000000), 0, 0 };
		printf("type %x", v.type);
		go(" wait-vblank", IOWR(0x3a, v), &v);
		break;
	}
	case 1: {
		struct sequence s = { any(2) ? ids[CRTC] : object(&which), 0, 0, 0 };
		go(" get-sequence", IOWR(0x3b, s), &s);
		printf(" active %u", s.active);
		break;
	}
	default: {
		struct queue q = { any(2) ? 999999 : object(&which), rare(1, 4 + any(4)), 0, 0 };
		printf(" flags %u", q.flags);
		if (which == CRTC && q.crtc == ids[CRTC] && !(q.flags & ~3u))
			q.flags = 8;
		go(" queue-sequence", IOWR(0x3c, q), &q);
	}
	}
}

void modes(void)
{
	if (!is_ready) {
		is_ready = 1;
		find_objects();
	}
	switch (any(14)) {
	case 0: add_fb(); break;
	case 1: case 2: blobs(); break;
	case 3: case 4: case 5: commit(); break;
	case 6: leases(); break;
	case 7: case 8: looks(); break;
	case 9: case 10: sets(); break;
	case 11: case 12: lists(); break;
	default: blanks();
	}
	putchar('\n');
}
