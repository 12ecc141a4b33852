#version 450
// Pixels with what f.frag and w.frag have not: lookups in textures, promises about depth, constants to their limits, atomics of images.
#if defined(SMOOTH) || defined(SLOPES) || defined(COORDS)
layout(location=0) in vec4 i;
#else
layout(location=0) flat in vec4 i;
#endif
layout(push_constant) uniform P{vec4 off; vec4 k; float ps; float pad[3]; vec4 more[5];} u;
layout(binding=0) uniform sampler2D t;
#ifdef TEXELS
layout(binding=5) uniform samplerBuffer reads; layout(binding=6,r32ui) uniform uimageBuffer counts; layout(binding=7,r32ui) uniform uimage2D places;
#endif
#ifdef INLINED
layout(binding=8) uniform B{vec4 a[16];} b;
#endif
#ifdef GREATER
layout(depth_greater) out float gl_FragDepth;
#elif defined(LESS)
layout(depth_less) out float gl_FragDepth;
#endif
layout(location=0) out vec4 o;
void main(){
 vec2 at=gl_FragCoord.xy*u.k.x; o=i;
#ifdef QUERY
 o=vec4(textureQueryLod(t,at)/8.0,0,1);
#elif defined(BIAS)
 o=texture(t,at,u.k.y);
#elif defined(GRAD)
 o=textureGrad(t,at,vec2(u.k.y,0),vec2(0,u.k.z));
#elif defined(GATHER)
 vec4 r=textureGather(t,at,0), g=textureGather(t,at,1); o=vec4(r.x,r.y*0.5+r.z*0.5,g.w,g.x);
#elif defined(OFFSET)
 o=textureOffset(t,at,ivec2(-3,2))*0.5+textureLodOffset(t,at,1.0,ivec2(4,-5))*0.5;
#elif defined(PROJECTED)
 o=textureProj(t,vec3(at*2.0,2.0));
#elif defined(GREATER)
 gl_FragDepth=gl_FragCoord.z+fract(floor(gl_FragCoord.x)*0.25)*0.5;
#elif defined(LESS)
 gl_FragDepth=gl_FragCoord.z-fract(floor(gl_FragCoord.y)*0.25)*0.5;
#elif defined(PUSHED)
 o=i*0.5+u.more[4-int(u.k.w)]*0.5;
#elif defined(INLINED)
 o=b.a[int(gl_FragCoord.x)&15]*0.5+b.a[15]*0.5;
#elif defined(TEXELS)
 o=texelFetch(reads,(int(gl_FragCoord.x)+3*int(gl_FragCoord.y))&31); imageAtomicAdd(counts,8+(int(gl_FragCoord.y)>>3),1u); imageAtomicXor(places,ivec2(gl_FragCoord.xy)>>3,1u<<(int(gl_FragCoord.x)&31));
#elif defined(SLOPES)
 o=vec4(dFdxFine(i.x),dFdyFine(i.y),dFdxCoarse(i.z),dFdyCoarse(i.w));
#elif defined(COORDS)
 o=vec4(fract(gl_FragCoord.xy),gl_FragCoord.z,gl_FragCoord.w*0.5);
#endif
}
