#version 460

layout(local_size_x=64) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=1) readonly buffer BB { uint B[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define I gl_GlobalInvocationID.x
#define K 40u
#define FA(i) uintBitsToFloat(A[i])
#define FB(i) uintBitsToFloat(B[i])
void put(uint k, uint v) { O[I*K+k] = v; }
void put(uint k, int v) { O[I*K+k] = uint(v); }
void put(uint k, float v) { O[I*K+k] = floatBitsToUint(v); }
void put(uint k, bool v) { O[I*K+k] = v ? 1u : 0u; }
void put(uint k, uvec2 v) { put(k, v.x); put(k + 1u, v.y); }
void put(uint k, vec4 v) { for (uint i = 0u; i < 4u; i++) put(k + i, v[i]); }
layout(set = 0, binding = 3, rgba8_snorm) uniform readonly image2D i3;
layout(set = 0, binding = 4, rgb10_a2) uniform readonly image2D i4;
layout(set = 0, binding = 5, rg16) uniform readonly image2D i5;
layout(set = 0, binding = 6, r8) uniform readonly image2D i6;
layout(set = 0, binding = 7, rgba16_snorm) uniform readonly image2D i7;
layout(set = 0, binding = 8, rgb10_a2ui) uniform readonly uimage2D i8;
layout(set = 0, binding = 9, rg8ui) uniform readonly uimage2D i9;
layout(set = 0, binding = 10, r16ui) uniform readonly uimage2D i10;
layout(set = 0, binding = 11, rgba8i) uniform readonly iimage2D i11;
layout(set = 0, binding = 12, r16i) uniform readonly iimage2D i12;
void main() {
    ivec2 p = ivec2(A[I] & 15u, B[I] & 7u);
    put(0, imageLoad(i3, p));
    put(4, imageLoad(i4, p));
    put(8, imageLoad(i5, p));
    put(12, imageLoad(i6, p));
    put(16, imageLoad(i7, p));
    put(20, vec4(imageLoad(i8, p)));
    put(24, vec4(imageLoad(i9, p)));
    put(28, vec4(imageLoad(i10, p)));
    put(32, vec4(imageLoad(i11, p)));
    put(36, vec4(imageLoad(i12, p)));
}
