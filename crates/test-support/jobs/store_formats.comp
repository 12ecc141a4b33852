#version 460

layout(local_size_x=64) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=1) readonly buffer BB { uint B[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define I gl_GlobalInvocationID.x
#define K 4u
#define FA(i) uintBitsToFloat(A[i])
#define FB(i) uintBitsToFloat(B[i])
void put(uint k, uint v) { O[I*K+k] = v; }
void put(uint k, int v) { O[I*K+k] = uint(v); }
void put(uint k, float v) { O[I*K+k] = floatBitsToUint(v); }
void put(uint k, bool v) { O[I*K+k] = v ? 1u : 0u; }
void put(uint k, uvec2 v) { put(k, v.x); put(k + 1u, v.y); }
void put(uint k, vec4 v) { for (uint i = 0u; i < 4u; i++) put(k + i, v[i]); }
layout(set = 0, binding = 3, rgba8_snorm) uniform image2D i3;
layout(set = 0, binding = 4, rgb10_a2) uniform image2D i4;
layout(set = 0, binding = 5, r11f_g11f_b10f) uniform image2D i5;
layout(set = 0, binding = 6, rg16) uniform image2D i6;
layout(set = 0, binding = 7, r8) uniform image2D i7;
layout(set = 0, binding = 8, rgba16_snorm) uniform image2D i8;
layout(set = 0, binding = 9, rg16f) uniform image2D i9;
layout(set = 0, binding = 10, rg32f) uniform image2D i10;
layout(set = 0, binding = 11, rgb10_a2ui) uniform uimage2D i11;
layout(set = 0, binding = 12, rg8ui) uniform uimage2D i12;
layout(set = 0, binding = 13, r16ui) uniform uimage2D i13;
layout(set = 0, binding = 14, rgba32ui) uniform uimage2D i14;
layout(set = 0, binding = 15, rgba8i) uniform iimage2D i15;
layout(set = 0, binding = 16, r16i) uniform iimage2D i16;
layout(set = 0, binding = 17, rg32i) uniform iimage2D i17;
layout(set = 0, binding = 20) uniform writeonly image2D any;
void main() {
    ivec2 p = ivec2(I & 15u, I >> 4);
    // Multiples of 1/255 or 1/8 with few bits, so that every format stores them without rounding, or rounds them alike.
    vec4 v = vec4(float(A[I] & 1u), float(B[I] & 1u), float(A[I] >> 1 & 1u), float(B[I] >> 1 & 1u));
    uvec4 u = uvec4(A[I] & 127u, B[I] & 127u, A[I] >> 8 & 127u, B[I] & 3u);
    imageStore(i3, p, v);
    imageStore(i4, p, v);
    imageStore(i5, p, v);
    imageStore(i6, p, v);
    imageStore(i7, p, v);
    imageStore(i8, p, v);
    imageStore(i9, p, v);
    imageStore(i10, p, v);
    imageStore(i11, p, u);
    imageStore(i12, p, u);
    imageStore(i13, p, u);
    imageStore(i14, p, u);
    imageStore(i15, p, ivec4(u) - 64);
    imageStore(i16, p, ivec4(u) - 64);
    imageStore(i17, p, ivec4(u) - 64);
    imageStore(any, p, v * 0.25);
    put(0, v);
}
