#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x=64) in;
layout(std430,set=0,binding=0) readonly buffer BA { uint A[]; };
layout(std430,set=0,binding=1) readonly buffer BB { uint B[]; };
layout(std430,set=0,binding=2) buffer BO { uint O[]; };
#define I gl_GlobalInvocationID.x
#define K 8u
#define FA(i) uintBitsToFloat(A[i])
#define FB(i) uintBitsToFloat(B[i])
void put(uint k, uint v) { O[I*K+k] = v; }
void put(uint k, int v) { O[I*K+k] = uint(v); }
void put(uint k, float v) { O[I*K+k] = floatBitsToUint(v); }
void put(uint k, bool v) { O[I*K+k] = v ? 1u : 0u; }
void put(uint k, uvec2 v) { put(k, v.x); put(k + 1u, v.y); }
void put(uint k, vec4 v) { for (uint i = 0u; i < 4u; i++) put(k + i, v[i]); }
layout(std430, set = 0, binding = 3) buffer B8 { uint8_t bytes[]; };
layout(std430, set = 0, binding = 4) buffer B16 { int16_t halves[]; };
void main() {
    uint8_t a = bytes[3u * I % 256u], b = bytes[(I + 131u) % 256u];
    int8_t s = int8_t(a), t = int8_t(b);
    put(0, uint(uint8_t(a + b)) | uint(uint8_t(a * b)) << 8 | uint(uint8_t(a - b)) << 16 | uint(uint8_t(~a)) << 24);
    put(1, int(int8_t(s + t)) ^ int(int8_t(s * t)) << 12);
    put(2, int(max(s, t)) * 1000 + int(min(s, t)));
    int16_t h = halves[I], g = halves[255u - I];
    put(3, int(int16_t(h * g)) + int(int16_t(h - g)));
    put(4, uint(uint16_t(h) >> uint16_t(I & 15u)) | uint(uint16_t(h >> int16_t(I & 15u))) << 16);
    put(5, int(h / int16_t(3)) + int(uint16_t(h) % uint16_t(7)) * 65536);
    put(6, int(abs(h)) + int(sign(g)) * 100000);
    i16vec2 v = i16vec2(h, g) * i16vec2(3s, -5s) + i16vec2(g, h);
    u8vec4 w = u8vec4(a, b, uint8_t(h), uint8_t(g)) + u8vec4(1, 2, 3, 4);
    put(7, uint(uint16_t(v.x)) | uint(uint16_t(v.y)) << 16);
    bytes[256u + I] = w.x ^ w.y;
    bytes[384u + I] = w.z + w.w;
    halves[256u + I] = max(v.x, v.y);
    halves[384u + I] = int16_t(min(uint16_t(h), uint16_t(g)));
}
