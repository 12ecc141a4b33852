#version 450
// Pixels with what f.frag, w.frag and x.frag have not: textures of other kinds, images by place, and tests that come before stores.
#if defined(POSTDEPTH)
#extension GL_ARB_post_depth_coverage : require
layout(post_depth_coverage) in;
#elif defined(EARLYDISC) || defined(EARLYMASK) || defined(EARLYDEPTH) || defined(EARLYSTORE)
layout(early_fragment_tests) in;
#endif
#ifdef DEMOTE
#extension GL_EXT_demote_to_helper_invocation : require
#endif
#ifdef TERMINATE
#extension GL_EXT_terminate_invocation : require
#endif
layout(location=0) flat in vec4 i;
layout(push_constant) uniform P{vec4 off; vec4 k; float ps;} u;
layout(binding=1) buffer B{uint n; uint d[];} b;
#if defined(D1)
layout(binding=0) uniform sampler1D t;
#define AT at.x
#define SLOPE(g) (g).x
#elif defined(D1ARRAY)
layout(binding=0) uniform sampler1DArray t;
#define AT vec2(at.x,layer)
#define SLOPE(g) (g).x
#elif defined(D2) || defined(GATHER) || defined(OFFSETS) || defined(SIZES) || defined(FETCH)
layout(binding=0) uniform sampler2D t;
#define AT at
#define SLOPE(g) (g).xy
#elif defined(D2ARRAY)
layout(binding=0) uniform sampler2DArray t;
#define AT vec3(at,layer)
#define SLOPE(g) (g).xy
#elif defined(D3)
layout(binding=0) uniform sampler3D t;
#define AT vec3(at,u.k.z+at.x*0.5)
#define SLOPE(g) (g)
#elif defined(CUBE)
layout(binding=0) uniform samplerCube t;
#define AT way
#define SLOPE(g) (g)
#elif defined(CUBEARRAY)
layout(binding=0) uniform samplerCubeArray t;
#define AT vec4(way,layer)
#define SLOPE(g) (g)
#elif defined(UINTS)
layout(binding=0) uniform usampler2D t;
#define AT at
#define SLOPE(g) (g).xy
#elif defined(SHADOW) || defined(SHADOWLOD) || defined(SHADOWGATHER) || defined(SHADOWPROJ)
layout(binding=0) uniform sampler2DShadow t;
#elif defined(SHADOWARRAY)
layout(binding=0) uniform sampler2DArrayShadow t;
#elif defined(SHADOWCUBE)
layout(binding=0) uniform samplerCubeShadow t;
#elif defined(IMAGE1D)
layout(binding=2,rgba8) uniform image1D st;
#define TEXEL (c.x+16*c.y)
#elif defined(IMAGE2D)
layout(binding=2,rgba8) uniform image2D st;
#define TEXEL c
#elif defined(IMAGE2DARRAY)
layout(binding=2,rgba8) uniform image2DArray st;
#define TEXEL ivec3(c&7,(c.x>>3)+2*(c.y>>3))
#elif defined(IMAGE3D)
layout(binding=2,rgba8) uniform image3D st;
#define TEXEL ivec3(c&7,(c.x>>3)+2*(c.y>>3))
#elif defined(IMAGECUBE)
layout(binding=2,rgba8) uniform imageCube st;
#define TEXEL ivec3(c&7,(c.x>>3)+2*(c.y>>3))
#elif defined(LOCAL)
layout(input_attachment_index=0,set=0,binding=3) uniform subpassInput first;
#endif
#ifndef COUNT
layout(location=0) out vec4 o;
#endif
void main(){
 ivec2 c=ivec2(gl_FragCoord.xy); vec2 at=gl_FragCoord.xy*u.k.x+u.k.y; float layer=u.k.z+floor(gl_FragCoord.y/4.0); float wanted=fract(gl_FragCoord.x*0.37+gl_FragCoord.y*0.23);
 // Tiles of four by four pixels look at the faces of a cube.
 int face=((c.x>>2)+(c.y>>2)*4)%6; vec2 l=(vec2(c&3)*0.5-0.75)*u.k.x+u.k.y; vec3 way=1.5*(face==0?vec3(1,-l.y,-l.x):face==1?vec3(-1,-l.y,l.x):face==2?vec3(l.x,1,l.y):face==3?vec3(l.x,-1,-l.y):face==4?vec3(l.x,-l.y,1):vec3(-l.x,-l.y,-1));
#if defined(GATHER)
 vec4 r=textureGather(t,at,2), g=textureGatherOffset(t,at,ivec2(3,-2),1); o=vec4(r.x*0.5+g.w*0.5,r.y,r.z*0.5+g.x*0.5,r.w);
#elif defined(OFFSETS)
 const ivec2 places[4]=ivec2[4](ivec2(0,0),ivec2(-4,2),ivec2(5,1),ivec2(-1,-7)); o=textureGatherOffsets(t,at,places,1);
#elif defined(SIZES)
 o=vec4(vec2(textureSize(t,int(u.k.w)))/32.0,float(textureQueryLevels(t))/8.0,1);
#elif defined(FETCH)
 o=texelFetch(t,c>>int(u.k.w),int(u.k.w))*0.5+texelFetchOffset(t,c&3,int(u.k.w),ivec2(1,2))*0.5;
#elif defined(SHADOW)
 o=vec4(texture(t,vec3(at,wanted)),0,0,1);
#elif defined(SHADOWLOD)
 o=vec4(textureLod(t,vec3(at,wanted),u.k.w),textureGrad(t,vec3(at,wanted),vec2(u.k.z,0),vec2(0,u.k.z)),0,1);
#elif defined(SHADOWPROJ)
 o=vec4(textureProj(t,vec4(at*2.0,wanted*2.0,2.0)),textureOffset(t,vec3(at,wanted),ivec2(2,-3)),0,1);
#elif defined(SHADOWGATHER)
 o=textureGather(t,at,wanted);
#elif defined(SHADOWARRAY)
 o=vec4(texture(t,vec4(at,layer,wanted)),0,0,1);
#elif defined(SHADOWCUBE)
 o=vec4(texture(t,vec4(way,wanted)),0,0,1);
#elif defined(TEXEL)
 o=imageLoad(st,TEXEL); imageStore(st,TEXEL,i.bgra*0.5+o*0.5);
#elif defined(AT)
 int how=int(u.ps); vec4 r; vec3 dx=vec3(u.k.w,0.0,0.0), dy=vec3(0.0,u.k.w*0.5,0.0);
 if(how==0) r=vec4(texture(t,AT)); else if(how==1) r=vec4(textureLod(t,AT,u.k.w)); else if(how==2) r=vec4(textureGrad(t,AT,SLOPE(dx),SLOPE(dy))); else r=vec4(texture(t,AT,u.k.w));
#ifdef UINTS
 r/=255.0;
#endif
 o=r;
#elif defined(EARLYDISC)
 atomicAdd(b.n,1u); if(((c.x^c.y)&3)==1) discard; atomicXor(b.d[c.y],1u<<c.x); o=i;
#elif defined(LATEDISC)
 atomicAdd(b.n,1u); if(((c.x^c.y)&3)==1) discard; atomicXor(b.d[c.y],1u<<c.x); o=i;
#elif defined(EARLYMASK)
 gl_SampleMask[0]=c.x&15; o=i;
#elif defined(EARLYDEPTH)
 gl_FragDepth=float(c.x)/32.0; o=i;
#elif defined(EARLYSTORE)
 b.d[c.y*16+c.x]=uint(i.r*15.0)+1u; o=i;
#elif defined(DEMOTE)
 bool gone=((c.x^(c.y>>1))&3)==1; if(gone) demote; float f=helperInvocationEXT()?64.0:0.0; atomicAdd(b.n,1u); atomicXor(b.d[c.y],1u<<c.x); o=vec4(abs(dFdxFine(f))/64.0,abs(dFdyFine(f))/64.0,i.b,1);
#elif defined(TERMINATE)
 if(((c.x^(c.y>>1))&3)==1) terminateInvocation; atomicAdd(b.n,1u); atomicXor(b.d[c.y],1u<<c.x); o=i;
#elif defined(POSTDEPTH)
 o=vec4(float(gl_SampleMaskIn[0])/15.0,0,0,1);
#elif defined(COUNT)
 atomicAdd(b.n,1u); atomicXor(b.d[c.y],1u<<c.x); if(u.ps>1.5) atomicAdd(b.d[32+gl_SampleID],1u);
#elif defined(LOCAL)
 o=subpassLoad(first).bgra*0.5+i*0.5;
#elif defined(SPRITE)
 o=vec4(gl_PointCoord,i.b,1);
#elif defined(SAMPLES)
 o=vec4(float(gl_SampleID)/8.0,gl_SamplePosition,float(bitCount(gl_SampleMaskIn[0]))/8.0);
#elif defined(MASKOUT)
 gl_SampleMask[0]=c.x*16+c.y; o=i;
#else
 o=i;
#endif
}
