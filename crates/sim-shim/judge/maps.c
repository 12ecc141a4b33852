/* Random mappings of dumb buffers and dma-bufs: their offsets, lengths, rights, other files, and ends of handles and descriptors. */
#include <sys/mman.h>

#include "judge.h"

#define BOS 4
#define PAGES 4
static struct { int file, fd; uint32_t handle; uint64_t offset; uint32_t *memory; } bos[BOS];
static int others[2] = { -1, -1 }, is_ready;

static int file_of(uint32_t which) { return which == 0 ? drm : others[which - 1]; }

/* Forgets the offset of a BO that is gone: it may be another's, which depends on the kernel. */
static void forget(int b)
{
	if (bos[b].handle == 77777 && bos[b].fd < 0 && !bos[b].memory)
		bos[b].offset = 0x7ffff000;
}

static int own(int file, unsigned long request, void *argument) { return ioctl(file, request, argument) ? errno : 0; }

static void close_handle_of(int b)
{
	struct pair c = { bos[b].handle, 0 };

	own(file_of((uint32_t)bos[b].file), IOW(0x09, c), &c);
}

static void make_bo(int b)
{
	struct dumb d = { 16 * PAGES, 64, 32, 0, 0, 0, 0 };
	struct map m = { 0, 0, 0 };
	uint32_t which = any(3);

	close_handle_of(b);
	if (bos[b].fd >= 0)
		close(bos[b].fd);
	bos[b].fd = -1;
	if (bos[b].memory)
		munmap(bos[b].memory, 4096 * PAGES);
	bos[b].memory = NULL;
	bos[b].file = (int)which;
	printf("make %d in file %u errno %d", b, which, own(file_of(which), IOWR(0xb2, d), &d));
	bos[b].handle = m.handle = d.handle;
	printf(" handle %u size %lu map errno %d", d.handle, (unsigned long)d.size, own(file_of(which), IOWR(0xb3, m), &m));
	bos[b].offset = m.offset;
	printf(" whole pages %d", m.offset % 4096 == 0);
}

/* Maps and looks at the first dword, or says why not. */
static void map_it(int descriptor, uint64_t offset, size_t length, int rights, int flags, uint32_t **kept)
{
	uint32_t *memory = mmap(NULL, length, rights, flags, descriptor, (off_t)offset);

	if (memory == MAP_FAILED) {
		printf(" errno %d", errno);
		return;
	}
	printf(" mapped");
	if (rights & PROT_READ)
		printf(" holds %u", memory[0]);
	if ((rights & PROT_WRITE) && (flags & MAP_SHARED))
		memory[0] = (uint32_t)call + 1;
	if (kept && !*kept && length == 4096 * PAGES && (rights & PROT_READ) && (flags & MAP_SHARED))
		*kept = memory;
	else
		munmap(memory, length);
}

void maps(void)
{
	static const int rights[] = { PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_NONE };
	static const size_t lengths[] = { 4096 * PAGES, 4096 * PAGES, 4096 * PAGES, 4096, 4096 * (PAGES + 1), 1, 4095, 0 };
	int b = (int)any(BOS);
	uint32_t which = any(3);

	if (!is_ready) {
		is_ready = 1;
		for (int i = 0; i < 2; i++)
			others[i] = open(node, O_RDWR | O_CLOEXEC);
		for (int i = 0; i < BOS; i++) {
			bos[i].fd = -1;
			bos[i].handle = 77777;
			bos[i].offset = 0x7ffff000;
		}
	}
	switch (any(10)) {
	case 0:
		make_bo(b);
		break;
	case 1: {
		struct pair c = { bos[b].handle, 0 };
		bos[b].handle = 77777;
		printf("close %d errno %d", b, own(file_of((uint32_t)bos[b].file), IOW(0x09, c), &c));
		break;
	}
	case 2: {
		struct pair d = { any(4) ? 77777 : bos[b].handle, 0 };
		if (d.a == bos[b].handle)
			bos[b].handle = 77777;
		printf("destroy %d handle %u errno %d", b, d.a, own(file_of((uint32_t)bos[b].file), IOWR(0xb4, d.a), &d));
		break;
	}
	case 3: {
		struct map m = { rare(bos[b].handle, 0), rare(0, 1), 7 };
		/* A handle of one file means another BO in another. */
		printf("offset of %d errno %d", b, own(file_of((uint32_t)bos[b].file), IOWR(0xb3, m), &m));
		printf(" same %d", m.offset == bos[b].offset);
		break;
	}
	case 4: {
		struct prime p = { bos[b].handle, any(2) ? O_RDWR | O_CLOEXEC : O_CLOEXEC, -7 };
		printf("export %d flags %x errno %d", b, p.flags, own(file_of((uint32_t)bos[b].file), IOWR(0x2d, p), &p));
		if (p.fd >= 0) {
			if (bos[b].fd >= 0)
				close(bos[b].fd);
			bos[b].fd = p.fd;
			printf(" mode %d", fcntl(p.fd, F_GETFL) & O_ACCMODE);
		}
		break;
	}
	case 5: {
		struct prime p = { 0, 0, bos[b].fd };
		printf("import %d into %u errno %d", b, which, own(file_of(which), IOWR(0x2e, p), &p));
		if (p.handle) {
			struct map m = { p.handle, 0, 0 };
			struct pair c = { p.handle, 0 };
			/* An offset is the BO's, whoever asks. */
			printf(" map errno %d same %d", own(file_of(which), IOWR(0xb3, m), &m), m.offset == bos[b].offset);
			map_it(file_of(which), m.offset, 4096, PROT_READ, MAP_SHARED, NULL);
			if ((int)which != bos[b].file || p.handle != bos[b].handle)
				own(file_of(which), IOW(0x09, c), &c);
		}
		break;
	}
	case 6: {
		size_t length = lengths[any(8)];
		uint32_t r = any(4), of = any(6) ? 0 : 4096 * (1 + any(PAGES - 1)), secret = r == 3 || of ? 0 : !any(4);
		printf("map fd of %d length %lu rights %u offset %u private %u", b, (unsigned long)length, r, of, secret);
		/* The driver of that kernel shows the first page at any offset, so nothing is looked at. */
		if (bos[b].fd >= 0)
			map_it(bos[b].fd, of, length, of ? PROT_NONE : rights[r], secret ? MAP_PRIVATE : MAP_SHARED, NULL);
		break;
	}
	default: {
		size_t length = lengths[any(8)];
		uint32_t r = any(4), shift = any(6) ? 0 : 4096 * (1 + any(PAGES - 1)), secret = !any(6);
		uint64_t offset = any(8) ? bos[b].offset : any(2) ? 0 : 0x7ffff000;
		/* A secret mapping without rights is amdgpu's affair. */
		if (r == 3)
			secret = 0;
		if (any(3))
			which = (uint32_t)bos[b].file;
		printf("map %d in file %u length %lu rights %u shift %u known %d private %u", b, which, (unsigned long)length, r, shift,
		       offset == bos[b].offset, secret);
		map_it(file_of(which), offset + shift, length, rights[r], secret ? MAP_PRIVATE : MAP_SHARED, &bos[b].memory);
	}
	}
	forget(b);
	/* Mappings outlive handles and descriptors. */
	for (int i = 0; i < BOS; i++)
		if (bos[i].memory) {
			printf(" kept %u", bos[i].memory[0]);
			if (!any(4)) {
				munmap(bos[i].memory, 4096 * PAGES);
				bos[i].memory = NULL;
				forget(i);
			}
		}
	putchar('\n');
}
