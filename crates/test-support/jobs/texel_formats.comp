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
layout(set = 0, binding = 3) uniform samplerBuffer a;
layout(set = 0, binding = 4) uniform samplerBuffer b;
layout(set = 0, binding = 5) uniform isamplerBuffer c;
layout(set = 0, binding = 6) uniform usamplerBuffer d;
layout(set = 0, binding = 7) uniform samplerBuffer e;
layout(set = 0, binding = 8, rgba16i) uniform readonly iimageBuffer f;
layout(set = 0, binding = 9, r32ui) uniform uimageBuffer g;
layout(set = 0, binding = 10) uniform samplerBuffer h;
void main() {
    int at = int(A[I] & 63u);
    put(0, texelFetch(a, at));
    put(4, texelFetch(b, at));
    put(8, vec4(texelFetch(c, at)));
    put(12, vec4(texelFetch(d, at)));
    put(16, texelFetch(e, at));
    put(20, vec4(imageLoad(f, at)));
    imageAtomicAdd(g, int(B[I] & 15u), A[I]);
    imageAtomicMax(g, 16 + int(B[I] & 15u), A[I]);
    put(24, texelFetch(h, at));
}
