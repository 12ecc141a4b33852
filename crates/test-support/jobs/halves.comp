#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
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
void main() {
    f16vec2 a = unpackFloat2x16(A[I]), b = unpackFloat2x16(B[I]), c = f16vec2(1.5hf, -0.25hf);
    put(0, packFloat2x16(a + b));
    put(1, packFloat2x16(a * b));
    put(2, packFloat2x16(fma(a, b, c)));
    put(3, packFloat2x16(min(a, b)));
    put(4, packFloat2x16(max(-a, abs(b))));
    put(5, packFloat2x16(floor(a)));
    put(6, packFloat2x16(clamp(a * 0.01hf, 0.0hf, 1.0hf)));
    put(7, float(a.x) * float(b.y));
    put(8, packFloat2x16(f16vec2(float(a.x) * 1.25, float(b.x))));
    put(9, uint(a.x < b.x) | uint(a.y >= b.y) << 1 | uint(isnan(a.x)) << 2);
    put(10, int(int16_t(a.x)) + int(uint16_t(abs(b.y))) * 65536);
    put(11, packFloat2x16(mix(a, b, lessThan(a, b))));
}
