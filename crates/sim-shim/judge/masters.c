/* Random requests about masters, authentication, versions of the interface, and names that files of one device share. */
#include "judge.h"

#define FILES 4
static int files[FILES] = { -1, -1, -1, -1 };
static uint32_t tokens[FILES];

struct client { int32_t idx, auth; uint64_t pid, uid, magic, iocs; };
struct unique { uint64_t length, text; };
struct set_version { int32_t di_major, di_minor, dd_major, dd_minor; };

static void on_file(int which, const char *what, unsigned long request, void *argument)
{
	printf(" %s errno %d", what, ioctl(files[which], request, argument) ? errno : 0);
}

/* Opens or closes a file, and tells which files are authenticated and which is the master. */
static void states(void)
{
	printf(" now");
	for (int i = 0; i < FILES; i++) {
		struct client c = { 0, 7, 0, 0, 0, 0 };
		uint32_t none = 0;
		if (files[i] < 0 || ioctl(files[i], IOWR(0x05, c), &c)) {
			printf(" -");
			continue;
		}
		/* Only the master may look for a token. */
		printf(" %d%s", c.auth, ioctl(files[i], _IOC(_IOC_WRITE, 'd', 0x11, 4), &none) && errno == EACCES ? "" : "m");
	}
}

void masters(void)
{
	int which = (int)any(FILES), other = (int)any(FILES);

	/* The file that main opened would be the master of all. */
	if (drm >= 0) {
		close(drm);
		drm = -1;
	}
	printf("file %d", which);
	if (files[which] < 0) {
		files[which] = open(node, (any(4) ? O_RDWR : O_RDONLY) | O_CLOEXEC);
		printf(" open errno %d", files[which] < 0 ? errno : 0);
	} else switch (any(12)) {
	case 0:
		close(files[which]);
		files[which] = -1;
		printf(" close");
		break;
	case 1:
		on_file(which, "set-master", _IO('d', 0x1e), NULL);
		break;
	case 2:
		on_file(which, "drop-master", _IO('d', 0x1f), NULL);
		break;
	case 3: case 4: {
		uint32_t magic = 0;
		on_file(which, "get-magic", _IOC(_IOC_READ, 'd', 0x02, 4), &magic);
		tokens[which] = magic;
		printf(" token %u", magic);
		break;
	}
	case 5: case 6: {
		uint32_t magic = rare(tokens[other], 77777);
		printf(" token of %d is %u", other, magic);
		on_file(which, "auth-magic", _IOC(_IOC_WRITE, 'd', 0x11, 4), &magic);
		break;
	}
	case 7: {
		struct client c = { (int32_t)rare(0, 1), 0, 0, 0, 0, 0 };
		on_file(which, "get-client", IOWR(0x05, c), &c);
		printf(" auth %d own %d iocs %lu", c.auth, c.pid == (uint64_t)getpid(), (unsigned long)c.iocs);
		break;
	}
	case 8: {
		/* The versions of the drivers differ. */
		struct set_version v = { (int32_t)rare(1, 2 + any(3)), (int32_t)rare(4, any(6)), -1, 0 };
		if (!any(6))
			v.di_major = -1;
		printf(" %d.%d", v.di_major, v.di_minor);
		on_file(which, "set-version", IOWR(0x07, v), &v);
		printf(" %d.%d", v.di_major, v.di_minor);
		break;
	}
	case 9: {
		/* Whether there is a name, not which. */
		struct unique u = { 0, 0 };
		on_file(which, "get-unique", IOWR(0x01, u), &u);
		printf(" named %d", u.length != 0);
		break;
	}
	case 10: {
		struct dumb d = { 8, 8, 32, 0, 0, 0, 0 };
		struct pair f = { 0, 0 }, c = { 0, 0 };
		ioctl(files[which], IOWR(0xb2, d), &d);
		f.a = c.a = d.handle;
		on_file(which, "flink", IOWR(0x0a, f), &f);
		struct open_name o = { f.b ? f.b : 77777, 0, 0 };
		if (files[other] >= 0) {
			printf(" file %d open-name errno %d", other, ioctl(files[other], IOWR(0x0b, o), &o) ? errno : 0);
			/* A name is a name as long as any file has a handle. */
			ioctl(files[which], IOW(0x09, c), &c);
			if (o.handle) {
				struct pair d2 = { o.handle, 0 };
				printf(" size %lu close %d", (unsigned long)o.size, ioctl(files[other], IOW(0x09, d2), &d2) ? errno : 0);
			}
			printf(" again errno %d", ioctl(files[other], IOWR(0x0b, o), &o) ? errno : 0);
		} else {
			ioctl(files[which], IOW(0x09, c), &c);
		}
		break;
	}
	default: {
		/* Requests for masters and authenticated files that do nothing. */
		static const uint8_t numbers[] = { 0x10, 0x12, 0x13, 0x27, 0x28, 0x2c, 0x3f, 0x11, 0x06 };
		uint8_t number = numbers[any(sizeof(numbers))];
		uint64_t nothing[16] = { 0 };
		printf(" number %x", number);
		on_file(which, "noop", _IOC(_IOC_READ | _IOC_WRITE, 'd', number, 128), nothing);
	}
	}
	states();
	putchar('\n');
}
