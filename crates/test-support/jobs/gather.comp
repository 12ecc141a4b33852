#version 460

layout(local_size_x=64) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=1) readonly buffer BB { uint B[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define I gl_GlobalInvocationID.x
#define K 28u
#define FA(i) uintBitsToFloat(A[i])
#define FB(i) uintBitsToFloat(B[i])
void put(uint k, uint v) { O[I*K+k] = v; }
void put(uint k, int v) { O[I*K+k] = uint(v); }
void put(uint k, float v) { O[I*K+k] = floatBitsToUint(v); }
void put(uint k, bool v) { O[I*K+k] = v ? 1u : 0u; }
void put(uint k, uvec2 v) { put(k, v.x); put(k + 1u, v.y); }
void put(uint k, vec4 v) { for (uint i = 0u; i < 4u; i++) put(k + i, v[i]); }
layout(set = 0, binding = 3) uniform sampler2D T;
layout(set = 0, binding = 4) uniform sampler2DShadow S;
layout(set = 0, binding = 5) uniform sampler2DArray R;
layout(set = 0, binding = 6) uniform usampler2D U;
const ivec2 offsets[4] = ivec2[](ivec2(-8, 7), ivec2(0, 3), ivec2(1, -2), ivec2(5, 5));
void main() {
    vec2 p = vec2(FA(I), FB(I));
    put(0, textureGather(T, p, 0));
    put(4, textureGather(T, p, 3));
    put(8, textureGatherOffset(T, p, ivec2(3, -4), 1));
    put(12, textureGatherOffsets(T, p, offsets, 2));
    put(16, textureGather(S, p, 0.5));
    put(20, textureGather(R, vec3(p, float(I % 3u)), 1));
    uvec4 u = textureGather(U, p, 1);
    for (uint i = 0u; i < 4u; i++) put(24u + i, u[i]);
}
