/* Arguments of mode setting. */
#ifndef MODES_H
#define MODES_H

#include <stdint.h>

struct resources { uint64_t fbs, crtcs, connectors, encoders; uint32_t nfbs, ncrtcs, nconnectors, nencoders, min_w, max_w, min_h, max_h; };
struct mode { uint32_t clock; uint16_t h[5], v[5]; uint32_t refresh, flags, type; char name[32]; };
struct connector {
	uint64_t encoders, modes, props, values;
	uint32_t nmodes, nprops, nencoders, encoder, id, type, type_id, connection, mm_w, mm_h, subpixel, pad;
};
struct planes { uint64_t ids; uint32_t count; };
struct plane { uint32_t id, crtc, fb, possible, gamma, nformats; uint64_t formats; };
struct encoder { uint32_t id, type, crtc, possible, clones; };
struct properties { uint64_t ids, values; uint32_t count, object, type; };
struct property { uint64_t values, enums; uint32_t id, flags; char name[32]; uint32_t nvalues, nenums; };
struct set_object { uint64_t value; uint32_t property, object, type; };
struct blob { uint64_t data; uint32_t length, id; };
struct get_blob { uint32_t id, length; uint64_t data; };
struct fb { uint32_t id, w, h, format, flags, handles[4], pitches[4], offsets[4]; uint64_t modifiers[4]; };
struct old_fb { uint32_t id, w, h, pitch, bpp, depth, handle; };
struct atomic { uint32_t flags, objects; uint64_t ids, counts, props, values, reserved, data; };
struct crtc { uint64_t connectors; uint32_t count, id, fb, x, y, gamma, valid; struct mode mode; };
struct flip { uint32_t crtc, fb, flags, reserved; uint64_t data; };
struct lease { uint64_t ids; uint32_t count, flags, lessee; int32_t fd; };
struct list { uint32_t count, pad; uint64_t ids; };
struct cap { uint64_t cap, value; };
struct vblank { uint32_t type, sequence; uint64_t signal; };
struct sequence { uint32_t crtc, active; uint64_t sequence; int64_t time; };
struct queue { uint32_t crtc, flags; uint64_t sequence, data; };
struct set_plane { uint32_t plane, crtc, fb, flags; int32_t x, y; uint32_t w, h, sx, sy, sh, sw; };
struct lut { uint32_t crtc, size; uint64_t r, g, b; };
struct cursor { uint32_t flags, crtc; int32_t x, y; uint32_t w, h, handle; };

#endif
