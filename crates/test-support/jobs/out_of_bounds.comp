#version 460

layout(local_size_x=64) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=1) readonly buffer BB { uint B[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define I gl_GlobalInvocationID.x
#define K 12u
#define FA(i) uintBitsToFloat(A[i])
#define FB(i) uintBitsToFloat(B[i])
void put(uint k, uint v) { O[I*K+k] = v; }
void put(uint k, int v) { O[I*K+k] = uint(v); }
void put(uint k, float v) { O[I*K+k] = floatBitsToUint(v); }
void put(uint k, bool v) { O[I*K+k] = v ? 1u : 0u; }
void put(uint k, uvec2 v) { put(k, v.x); put(k + 1u, v.y); }
void put(uint k, vec4 v) { for (uint i = 0u; i < 4u; i++) put(k + i, v[i]); }
layout(set = 0, binding = 3) uniform U { uvec4 constants[4]; };
layout(set = 0, binding = 4) uniform usamplerBuffer texels;
layout(set = 0, binding = 5, r32ui) uniform uimage2D picture;
layout(std430, set = 0, binding = 6) buffer S { uint few[]; };
void main() {
    // Every other invocation stays inside.
    uint far = (I & 1u) * (1000u + (A[I] & 0xffffu));
    put(0, few[(B[I] & 15u) + far]);
    put(1, texelFetch(texels, int((B[I] & 15u) + far)).x);
    put(2, imageLoad(picture, ivec2(B[I] & 7u, A[I] & 7u) + ivec2(far)).x);
    put(3, imageLoad(picture, ivec2(B[I] & 7u, A[I] & 7u) - ivec2(far)).x);
    put(4, uint(imageSize(picture).x) + uint(textureSize(texels)) * 100u + uint(few.length()) * 10000u);
    few[16u + (I >> 1) + far] = I;
    imageStore(picture, ivec2(I & 7u, 8u + (I >> 3)) + ivec2(far), uvec4(I + 1u));
    atomicAdd(few[80u + (I >> 1 & 7u) + far], A[I]);
    imageAtomicOr(picture, ivec2(I >> 4, 7) - ivec2(far), 0u);
    uvec3 wide = uvec3(few[96u + far], few[97u + far], few[98u + far]);
    put(5, wide.x ^ wide.y ^ wide.z);
    put(6, A[I + far] + B[I + 2u * far]);
    put(7, constants[B[I] & 3u].y);
    uint i = 8u;
    for (uint k = 0u; k < 4u; k++) put(i + k, few[k * 4u + far * (k + 1u)]);
}
