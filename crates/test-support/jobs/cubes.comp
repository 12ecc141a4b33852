#version 460

layout(local_size_x=64) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=1) readonly buffer BB { uint B[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define I gl_GlobalInvocationID.x
#define K 20u
#define FA(i) uintBitsToFloat(A[i])
#define FB(i) uintBitsToFloat(B[i])
void put(uint k, uint v) { O[I*K+k] = v; }
void put(uint k, int v) { O[I*K+k] = uint(v); }
void put(uint k, float v) { O[I*K+k] = floatBitsToUint(v); }
void put(uint k, bool v) { O[I*K+k] = v ? 1u : 0u; }
void put(uint k, uvec2 v) { put(k, v.x); put(k + 1u, v.y); }
void put(uint k, vec4 v) { for (uint i = 0u; i < 4u; i++) put(k + i, v[i]); }
layout(set = 0, binding = 3) uniform samplerCube C;
layout(set = 0, binding = 4) uniform samplerCubeArray D;
layout(set = 0, binding = 5) uniform sampler2D T;
layout(set = 0, binding = 6) uniform sampler2D X;
void main() {
    vec3 d = vec3(FA(I), FB(I), FA(I ^ 7u) - FB(I ^ 2u));
    put(0, textureLod(C, d, 0.0));
    put(4, textureLod(D, vec4(d.zxy, float(I & 1u)), 0.0));
    put(8, textureLod(T, d.xy, 0.0));
    put(12, textureLod(X, d.xy * 3.0, 0.0));
    put(16, textureSize(C, 0).x + 100 * textureSize(D, 0).z);
    put(17, textureLod(T, d.zz, 0.0).w);
    put(18, textureLod(X, d.zx, 0.0).x);
    put(19, textureLod(X, -d.zx, 0.0).x);
}
