// Kernels as people write them, one a line, each with the verdict that it should get; what reads the total
// otherwise than to stride by it may only be divided. typical.nvcc.ptx is this file by nvcc 13.0 -ptx -O3 -arch=sm_75.
// clang-format off
#include <cstdint>
#include <cstdio>

#define GX (blockIdx.x * blockDim.x + threadIdx.x)
#define GY (blockIdx.y * blockDim.y + threadIdx.y)
#define GZ (blockIdx.z * blockDim.z + threadIdx.z)

template<class T> __global__ void template_kernel(T*o,const T*x,int n){int i=GX;if(i<n)o[i]=x[i]*T(2);}  // covering
template __global__ void template_kernel<double>(double*,const double*,int);
__global__ void u64idx_kernel(float*o,uint64_t n){uint64_t i=uint64_t(blockIdx.x)*blockDim.x+threadIdx.x;if(i<n)o[i]=1;}  // covering
__global__ void unsigned_kernel(float*o,unsigned n){unsigned i=GX;if(i>=n)return;o[i]=1;}  // covering
__global__ void flat_kernel(float*o,int w,int h){int x=GX,y=GY;int i=y*w+x;if(x<w&&y<h)o[i]=i;}  // covering
__global__ void flat_bad_kernel(float*o,int w,int n){int i=GY*w+GX;if(i<n)o[i]=i;}  // covering
__global__ void flat_grid_kernel(float*o,int n){int w=gridDim.x*blockDim.x;int i=GY*w+GX;if(i<n)o[i]=i;}  // dividing
__global__ void early_kernel(float*o,const float*x,int n){int i=GX;if(i>=n)return;if(x[i]<0)return;o[i]=sqrtf(x[i]);}  // covering
__global__ void loops_kernel(float*o,const float*a,int n,int m){int i=GX;if(i<n){float s=0;for(int j=0;j<m;j++)for(int k=0;k<j;k++)s+=a[j*m+k];o[i]=s;}}  // covering
__global__ void restrict_kernel(float*__restrict__ o,const float*__restrict__ a,const float*__restrict__ b,int n){int i=GX;if(i<n)o[i]=a[i]+b[i];}  // covering
__global__ void float4_kernel(float4*o,const float4*a,int n4){int i=GX;if(i<n4){float4 v=a[i];v.x*=2;v.w+=1;o[i]=v;}}  // covering
struct Args{float*out;const float*in;int n;int stride;float scale;double eps;};
__global__ void struct_kernel(Args a){int i=GX;if(i<a.n)a.out[i*a.stride]=a.in[i]*a.scale+a.eps;}  // covering
__global__ void char_kernel(int*len,const char*s,int n){int i=GX;if(i<n)len[i]=s[i]=='a'?1:0;}  // covering
__global__ void gs_u_kernel(unsigned*o,unsigned n){for(unsigned i=GX;i<n;i+=gridDim.x*blockDim.x)o[i]=i;}  // covering
__global__ void gs_size_kernel(float*o,size_t n){size_t st=size_t(blockDim.x)*gridDim.x;for(size_t i=blockIdx.x*size_t(blockDim.x)+threadIdx.x;i<n;i+=st)o[i]=2;}  // covering
__global__ void gs_2d_kernel(float*o,int w,int h){for(int y=GY;y<h;y+=blockDim.y*gridDim.y)for(int x=GX;x<w;x+=blockDim.x*gridDim.x)o[y*w+x]=1;}  // covering
__global__ void swapped_kernel(float*o,int w,int h){int row=GX,col=GY;if(row<h&&col<w)o[row*w+col]=1;}  // covering
__global__ void atomic_kernel(int*h,const int*x,int n){int i=GX;if(i<n)atomicAdd(&h[x[i]&255],1);}  // covering
__global__ void fatomic_kernel(float*s,const float*x,int n){int i=GX;if(i<n)atomicAdd(s,x[i]);}  // covering
__global__ void cas_kernel(int*l,int n){int i=GX;if(i<n)while(atomicCAS(l,0,1)!=0);}  // fixed
__global__ void shared_kernel(float*o){__shared__ float s[256];s[threadIdx.x]=o[GX];__syncthreads();o[GX]=s[blockDim.x-1-threadIdx.x];}  // fixed
__global__ void shfl_kernel(float*o,int n){int i=GX;float v=i<n?o[i]:0;for(int d=16;d;d/=2)v+=__shfl_down_sync(~0u,v,d);if(i<n)o[i]=v;}  // dividing
__global__ void clock_kernel(long long*o,int n){int i=GX;if(i<n)o[i]=clock64();}  // fixed
__global__ void printf_kernel(int n){int i=GX;if(i<n)printf("%d\n",i);}  // fixed
__global__ void switch_kernel(int*o,int mode,int n){int i=GX;if(i>=n)return;switch(mode){case 0:o[i]=1;break;case 1:o[i]+=i;break;case 2:o[i]*=3;break;case 5:o[i]=-o[i];break;case 7:o[i]^=i;break;default:o[i]=0;}}  // covering
__global__ void const_kernel(float*o,int n){int i=GX;if(i<n)o[i]=i%7;}  // covering
__constant__ float coef[16]; 
__global__ void cmem_kernel(float*o,const float*x,int n){int i=GX;if(i<n){float s=0;for(int k=0;k<16;k++)s+=coef[k]*x[i+k];o[i]=s;}}  // covering
__device__ int dev_n; __global__ void devn_kernel(float*o){int i=GX;if(i<dev_n)o[i]=1;}  // dividing
__global__ void ptrn_kernel(float*o,const int*n){int i=GX;if(i<*n)o[i]=1;}  // dividing
__global__ void csr_kernel(const int*rp,const int*ci,const float*v,const float*x,float*y,int n){int r=GX;if(r<n){float s=0;for(int k=rp[r];k<rp[r+1];k++)s+=v[k]*x[ci[k]];y[r]=s;}}  // covering
__global__ void bfs_kernel(const int2*nodes,const int*edges,bool*mask,bool*upd,bool*vis,int*cost,int n){int t=GX;if(t<n&&mask[t]){mask[t]=false;for(int i=nodes[t].x;i<nodes[t].x+nodes[t].y;i++){int id=edges[i];if(!vis[id]){cost[id]=cost[t]+1;upd[id]=true;}}}}  // covering
__global__ void gauss_kernel(float*m,float*a,int size,int t){int x=GX,y=GY;if(x>=size-1-t)return;if(y>=size-t)return;a[size*(x+1+t)+(y+t)]-=m[size*(x+1+t)+t]*a[size*t+(y+t)];}  // covering
__global__ void bound_256_kernel(float*o,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i<n/4)((float4*)o)[i]=make_float4(1,2,3,4);}  // covering
__global__ void bs_kernel(float*c,float*p,const float*s,const float*x,const float*t,float r,float v,int n){int i=GX;if(i>=n)return;float q=sqrtf(t[i]);float d1=(logf(s[i]/x[i])+(r+.5f*v*v)*t[i])/(v*q);float d2=d1-v*q;c[i]=s[i]*normcdff(d1)-x[i]*expf(-r*t[i])*normcdff(d2);p[i]=c[i]-s[i]+x[i]*__expf(-r*t[i]);}  // covering
__global__ void multi_kernel(float*o,int n){int base=(GX)*4;for(int k=0;k<4;k++)if(base+k<n)o[base+k]=k;}  // covering
__global__ void multi_brk_kernel(float*o,int n){int base=(GX)*4;for(int k=0;k<4;k++){if(base+k>=n)return;o[base+k]=k;}}  // covering, -O1: dividing
__global__ void batch_kernel(float*o,int n,int m){int b=blockIdx.z;int x=GX,y=GY;if(x<n&&y<m)o[(b*m+y)*n+x]=1;}  // covering
__global__ void ternary_kernel(float*o,const float*x,int n){int i=GX;if(i<n){int l=i>0?i-1:0,r=i<n-1?i+1:n-1;o[i]=x[l]+x[r];}}  // covering
__global__ void mod_kernel(float*o,const float*x,int w,int h){int i=GX;if(i<w*h){int a=i%w,b=i/w;o[b*w+a]=x[a*h+b];}}  // covering
__global__ void wmh_kernel(float*o,long w,long h){long i=GX;if(i>=w*h)return;o[i]=1;}  // covering
__global__ void double_kernel(double*o,const double*x,double a,int n){int i=GX;if(i<n)o[i]=sin(x[i])+pow(a,x[i]);}  // covering
__global__ void nbody_kernel(float4*p,float4*v,float dt,int n){int i=GX;if(i>=n)return;float4 a=make_float4(0,0,0,0),q=p[i];for(int j=0;j<n;j++){float dx=p[j].x-q.x;a.x+=dx*rsqrtf(dx*dx+1e-9f);}v[i].x+=a.x*dt;}  // covering
__global__ void monte_kernel(float*o,unsigned seed,int n,int it){int i=GX;if(i>=n)return;unsigned s=seed^i;float a=0;for(int k=0;k<it;k++){s=s*1664525u+1013904223u;a+=s*2.3e-10f;}o[i]=a;}  // covering
__global__ void threadlinear_kernel(float*o,int n){int i=blockIdx.x*blockDim.x*blockDim.y+threadIdx.y*blockDim.x+threadIdx.x;if(i<n)o[i]=1;}  // covering
__global__ void bid2d_kernel(float*o,int n){int b=blockIdx.y*gridDim.x+blockIdx.x;int i=b*blockDim.x+threadIdx.x;if(i<n)o[i]=1;}  // dividing
__global__ void warp_kernel(float*o,int n){int w=GX/32,l=threadIdx.x%32;if(w<n)o[w*32+l]=1;}  // covering
__global__ void le_kernel(float*o,int n){int i=GX+1;if(i<=n)o[i-1]=1;}  // covering
__global__ void neg_kernel(float*o,int n){int i=n-1-(int)(GX);if(i>=0)o[i]=1;}  // covering
__global__ void uchar_kernel(unsigned char*o,const uchar3*im,int w,int h){int x=GX,y=GY;if(x<w&&y<h){uchar3 p=im[y*w+x];o[y*w+x]=(unsigned char)(.3f*p.x+.6f*p.y+.1f*p.z);}}  // covering
__global__ void local_kernel(float*o,const float*x,int n,int k){int i=GX;if(i<n){float t[16];for(int j=0;j<16;j++)t[j]=x[i+j];o[i]=t[k&15];}}  // covering
__global__ void inner3d_kernel(float*o,int nx,int ny,int nz){int x=GX,y=GY,z=GZ;if(x<1||y<1||z<1||x>=nx-1||y>=ny-1||z>=nz-1)return;o[(z*ny+y)*nx+x]=1;}  // covering
__global__ void __launch_bounds__(256,2) lb_kernel(float*o,int n){int i=GX;if(i<n)o[i]=1;}  // covering
__global__ void bool_kernel(float*o,bool flag,int n){int i=GX;if(flag&&i<n)o[i]=1;}  // covering
__global__ void zloop_kernel(float*o,int nx,int ny,int nz){int x=GX,y=GY;if(x<nx&&y<ny)for(int z=0;z<nz;z++)o[(z*ny+y)*nx+x]+=1;}  // covering
__global__ void cond_outer_kernel(float*o,int n,float alpha){if(alpha==0.0f)return;int i=GX;if(i<n)o[i]*=alpha;}  // covering
template<class F> __global__ void lambda_kernel(int n,F f){int i=GX;if(i<n)f(i);}  // covering
struct Fn{float*p;__device__ void operator()(int i)const{p[i]=i;}}; template __global__ void lambda_kernel<Fn>(int,Fn);
__global__ void noguard_kernel(float*o){o[GX]=1;}  // dividing
__global__ void int2_kernel(int2 dims,float*o){int x=GX,y=GY;if(x<dims.x&&y<dims.y)o[y*dims.x+x]=1;}  // covering
__global__ void dim3_kernel(dim3 d,float*o){unsigned x=GX,y=GY,z=GZ;if(x<d.x&&y<d.y&&z<d.z)o[(z*d.y+y)*d.x+x]=1;}  // covering
__global__ void unroll2_kernel(float*o,int n){int i=blockIdx.x*(blockDim.x*2)+threadIdx.x;if(i<n)o[i]=1;if(i+blockDim.x<n)o[i+blockDim.x]=2;}  // fixed
__global__ void cg_reverse_kernel(float*o,int n){int i=GX;int j=n-1-i;if(i<j){float t=o[i];o[i]=o[j];o[j]=t;}}  // covering
struct A{float*o;int n;int dims[8];};
__global__ void dynstruct_kernel(A a){int i=GX;if(i<a.n)a.o[i]=a.dims[i%8];}  // covering
struct Mat{int w,h;float*d; __device__ float&at(int r,int c){return d[r*w+c];}};
__global__ void mat_kernel(Mat a,Mat b,Mat c){int r=GY,col=GX;if(r<c.h&&col<c.w){float s=0;for(int k=0;k<a.w;k++)s+=a.at(r,k)*b.at(k,col);c.at(r,col)=s;}}  // covering
__device__ __noinline__ void use(A&a,int i){a.dims[i&7]=i;a.o[i]=a.dims[3];}
__global__ void ref_kernel(A a){int i=GX;if(i<a.n)use(a,i);}  // covering
__global__ void while_kernel(float*o,int n){int i=GX;while(i<n){o[i]=1;i+=blockDim.x*gridDim.x;}}  // covering
template<int N> __global__ void tmpl_kernel(float*o){int i=GX;if(i<N)o[i]=1;}  // covering
template __global__ void tmpl_kernel<1000>(float*);
template<int W,int H> __global__ void tmpl2_kernel(float*o){int x=GX,y=GY;if(x>=W||y>=H)return;o[y*W+x]=1;}  // covering
template __global__ void tmpl2_kernel<640,480>(float*);
__global__ void shortcut_kernel(const float*a,float*o,int n){int i=GX;bool ok=i<n;float v=ok?a[i]:0.f;if(ok)o[i]=v;}  // covering
__global__ void inrange_kernel(float*o,int lo,int hi){int i=lo+GX;if(i<hi)o[i]=1;}  // covering
__global__ void rev_kernel(float*o,int n){int i=n-GX-1;if(i<0)return;o[i]=1;}  // covering
__global__ void two_kernel(float*o,int n,int m){int i=GX;if(i<n)o[i]=1;if(i<m)o[i]+=2;}  // covering
__global__ void minn_kernel(float*o,int n,int m){int i=GX;int e=min(n,m);if(i<e)o[i]=1;}  // covering
__global__ void u16_kernel(uint16_t*o,uint16_t n){int i=GX;if(i<n)o[i]=1;}  // covering
__global__ void ll_kernel(float*o,long long n,long long m){long long i=blockIdx.x*(long long)blockDim.x+threadIdx.x;long long j=blockIdx.y*(long long)blockDim.y+threadIdx.y;if(i<n&&j<m)o[j*n+i]=1;}  // covering
__global__ void mul4_kernel(float*o,int n){int i=4*GX;if(i+3<n){o[i]=1;o[i+1]=1;o[i+2]=1;o[i+3]=1;}}  // covering
__global__ void div_kernel(float*o,int n){int i=GX;int r=i/16,c=i%16;if(r<n)o[r*16+c]=1;}  // covering
__global__ void unsmod_kernel(float*o,unsigned n,unsigned w){unsigned i=GX;if(i<n){unsigned x=i%w,y=i/w;o[y*w+x]=1;}}  // covering
__global__ void assertlike_kernel(float*o,int n){int i=GX;if(i<n){if(o==nullptr)__trap();o[i]=1;}}  // fixed
__global__ void ldg_kernel(float*o,const float*a,int n){int i=GX;if(i<n)o[i]=__ldg(a+i);}  // covering
__global__ void half_kernel(unsigned short*o,int n){int i=GX;if(i<n)o[i]=o[i]<<1;}  // covering
__global__ void fft_kernel(float2*d,int n,int s){int i=GX;if(i<n/2){int k=(i/s)*2*s+i%s;float2 a=d[k],b=d[k+s];d[k]=make_float2(a.x+b.x,a.y+b.y);d[k+s]=make_float2(a.x-b.x,a.y-b.y);}}  // covering
__global__ void bitonic_kernel(int*d,int j,int k){unsigned i=GX,x=i^j;if(x>i){int a=d[i],b=d[x];if(((i&k)==0)==(a>b)){d[i]=b;d[x]=a;}}}  // dividing
__global__ void life_kernel(const unsigned char*a,unsigned char*b,int w,int h){int x=GX,y=GY;if(x>=w||y>=h)return;int c=0;for(int dy=-1;dy<=1;dy++)for(int dx=-1;dx<=1;dx++){int xx=(x+dx+w)%w,yy=(y+dy+h)%h;c+=a[yy*w+xx];}b[y*w+x]=c==3;}  // covering
__global__ void julia_kernel(unsigned*o,int w,int h,float cx,float cy,int it){int x=GX,y=GY;if(x<w&&y<h){float zx=x*3.f/w,zy=y*2.f/h;int k=0;while(k<it&&zx*zx+zy*zy<4){float t=zx*zx-zy*zy+cx;zy=2*zx*zy+cy;zx=t;k++;}o[y*w+x]=k;}}  // covering
__global__ void transpose_kernel(float*o,const float*a,int w,int h){int x=GX,y=GY;if(x<w&&y<h)o[x*h+y]=a[y*w+x];}  // covering
__global__ void hist_kernel(unsigned*h,const unsigned char*x,int n){int i=GX;int s=blockDim.x*gridDim.x;while(i<n){atomicAdd(&h[x[i]],1u);i+=s;}}  // covering
__global__ void scanstep_kernel(const int*a,int*b,int n,int off){int i=GX;if(i>=n)return;b[i]=i>=off?a[i]+a[i-off]:a[i];}  // covering
__global__ void spmvell_kernel(const int*c,const float*v,const float*x,float*y,int rows,int w){int r=GX;if(r<rows){float s=0;for(int k=0;k<w;k++){int col=c[r+k*rows];if(col>=0)s+=v[r+k*rows]*x[col];}y[r]=s;}}  // covering
__global__ void kmeans_kernel(const float*f,float*c,int*m,int np,int nc,int nf){int p=GX;if(p<np){int best=0;float bd=1e30f;for(int k=0;k<nc;k++){float d=0;for(int j=0;j<nf;j++){float t=f[j*np+p]-c[k*nf+j];d+=t*t;}if(d<bd){bd=d;best=k;}}m[p]=best;}}  // covering
__global__ void lud_kernel(float*a,int n,int k){int i=GX+k+1;if(i<n){a[i*n+k]/=a[k*n+k];}}  // covering
__global__ void floyd_kernel(int*d,int n,int k){int i=GY,j=GX;if(i<n&&j<n){int t=d[i*n+k]+d[k*n+j];if(t<d[i*n+j])d[i*n+j]=t;}}  // covering
__global__ void dotloc_kernel(const float*a,const float*b,float*p,int n){int i=GX;int t=gridDim.x*blockDim.x;float s=0;for(;i<n;i+=t)s+=a[i]*b[i];p[GX]=s;}  // dividing
__global__ void collatz_kernel(int*o,unsigned n){unsigned i=GX;if(i<n){unsigned long long v=i+1;int s=0;while(v!=1){v=v&1?3*v+1:v/2;s++;}o[i]=s;}}  // covering
__global__ void ising_kernel(signed char*l,const float*r,int nx,int ny,bool black){long i=GX;long y=i/(nx/2),x=i%(nx/2);if(y>=ny)return;l[y*nx+x]=r[i]<.5f?1:-1;}  // covering
__global__ void hotspot_kernel(const float*p,const float*t,float*o,int n,float rx){int x=GX,y=GY;if(x<n&&y<n){int c=y*n+x;float l=x==0?t[c]:t[c-1],r=x==n-1?t[c]:t[c+1];o[c]=t[c]+rx*(l+r-2*t[c])+p[c];}}  // covering
__global__ void srad_kernel(float*j,float*c,int cols,int rows,float q){int x=GX,y=GY;int i=y*cols+x;if(x<cols&&y<rows){float v=j[i];c[i]=v*q>1?1:v<0?0:v;}}  // covering
__global__ void ptrs_kernel(float**o,int n){int i=GX;if(i<n)o[i][0]=1;}  // covering
__global__ void tensor4d_kernel(float*o,int n,int c,int h,int w){int i=GX;if(i>=n*c*h*w)return;int x=i%w,y=i/w%h,z=i/(w*h)%c,b=i/(c*h*w);o[((b*c+z)*h+y)*w+x]=1;}  // covering
__global__ void dsize_kernel(float*o,unsigned long long n){unsigned long long i=(unsigned long long)GX;if(i<n)o[i]=1;}  // covering
__global__ void warpid_kernel(float*o,int n){int i=GX;if(i<n)o[i]=i>>5;}  // covering
__global__ void gridz_kernel(float*o,int w,int h){int x=GX,y=GY,z=blockIdx.z;if(x<w&&y<h)o[(z*h+y)*w+x]=gridDim.z;}  // covering
__global__ void boundscheck_kernel(float*o,const int*idx,int n,int m){int i=GX;if(i>=n)return;int k=idx[i];if((unsigned)k>=(unsigned)m)return;o[k]=1;}  // covering
__global__ void volatile_kernel(volatile float*o,int n){int i=GX;if(i<n)o[i]=1;}  // fixed
__global__ void threadfence_kernel(float*o,int n){int i=GX;if(i<n){o[i]=1;__threadfence();}}  // fixed
__global__ void syncwarp_kernel(float*o,int n){int i=GX;if(i<n)o[i]=1;__syncwarp();}  // covering
__global__ void tid1d_kernel(float*o,int n){int i=threadIdx.x;if(i<n)o[i]=1;}  // fixed
__global__ void bidrow_kernel(float*o,int w,int h){int y=blockIdx.x;if(y<h)for(int x=0;x<w;x++)o[y*w+x]=1;}  // covering
__global__ void strided_tid_kernel(float*o,int w){int y=blockIdx.x;for(int x=threadIdx.x;x<w;x+=blockDim.x)o[y*w+x]=1;}  // covering
