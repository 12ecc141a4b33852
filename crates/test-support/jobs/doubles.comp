#version 460

layout(local_size_x=64) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=1) readonly buffer BB { uint B[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define I gl_GlobalInvocationID.x
#define K 26u
#define FA(i) uintBitsToFloat(A[i])
#define FB(i) uintBitsToFloat(B[i])
void put(uint k, uint v) { O[I*K+k] = v; }
void put(uint k, int v) { O[I*K+k] = uint(v); }
void put(uint k, float v) { O[I*K+k] = floatBitsToUint(v); }
void put(uint k, bool v) { O[I*K+k] = v ? 1u : 0u; }
void put(uint k, uvec2 v) { put(k, v.x); put(k + 1u, v.y); }
void put(uint k, vec4 v) { for (uint i = 0u; i < 4u; i++) put(k + i, v[i]); }
void putd(uint k, double v) { put(k, unpackDouble2x32(v)); }
void main() {
    double a = double(FA(I)) * 1.0000001lf, b = double(FB(I)) + 0.125lf;
    putd(0, a + b);
    putd(2, a * b);
    putd(4, fma(a, b, a * b));
    putd(6, floor(a) + ceil(b));
    putd(8, trunc(a) - roundEven(b));
    putd(10, min(a, b) * max(a, b));
    putd(12, sqrt(abs(a)));
    putd(14, a / b);
    putd(16, inversesqrt(abs(b) + 1.0lf));
    putd(18, ldexp(a, int(I) - 60));
    int e;
    putd(20, frexp(a, e));
    put(22, e);
    put(23, int(a) ^ int(uint(abs(b))));
    put(24, float(a));
    put(25, uint(a < b) | uint(a == b) << 1 | uint(a >= b) << 2);
}
