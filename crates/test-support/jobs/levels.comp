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
layout(set = 0, binding = 4) uniform sampler2DArrayShadow S;
layout(set = 0, binding = 5) uniform sampler3D V;
layout(set = 0, binding = 6) uniform sampler1DArray L;
void main() {
    vec2 p = vec2(FA(I), FB(I));
    float lod = float(I & 7u) * 0.5;
    put(0, textureLod(T, p, floor(lod)));
    put(4, textureLodOffset(T, p, floor(lod), ivec2(-3, 2)));
    put(8, textureGrad(T, p, vec2(exp2(float(I & 3u)) / 16.0, 0.0), vec2(0.0, exp2(float(I & 3u)) / 16.0)));
    put(12, textureGrad(S, vec4(p, float(I & 1u), 0.5), vec2(0.0), vec2(0.0)));
    put(13, textureSize(T, int(I & 3u)).x + 100 * textureSize(S, 0).z + 10000 * textureSize(V, 1).z);
    put(14, textureQueryLevels(T) + 10 * textureQueryLevels(V));
    put(15, texelFetch(L, ivec2(I & 15u, I % 5u), 0).y);
    put(16, textureLod(V, vec3(p, FA(I ^ 1u)), float(I & 1u)));
    put(20, textureLod(L, vec2(p.x, float(I % 7u) - 1.0), 0.0));
    put(24, textureProjLod(T, vec3(p * 2.0, 2.0), 1.0));
}
