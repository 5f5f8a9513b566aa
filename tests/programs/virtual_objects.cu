// Objects made on the device by new, dispatched through tables of virtual functions, freed by another kernel.
#include <cstdio>
#include <vector>
struct Shape {
    __device__ virtual float distance(float x, float y) const = 0;
    __device__ virtual ~Shape() {}
};
struct Circle : Shape {
    float x, y, r;
    __device__ Circle(float cx, float cy, float radius) : x(cx), y(cy), r(radius) {}
    __device__ float distance(float px, float py) const override {
        return (px - x) * (px - x) + (py - y) * (py - y) - r * r;
    }
};
struct HalfPlane : Shape {
    float height;
    __device__ explicit HalfPlane(float h) : height(h) {}
    __device__ float distance(float, float py) const override { return height - py; }
};
__global__ void create(Shape** shapes) {
    if (threadIdx.x != 0 || blockIdx.x != 0) return;
    shapes[0] = new Circle(10, 12, 5);
    shapes[1] = new HalfPlane(20);
    shapes[2] = new Circle(30, 8, 3);
}
__global__ void render(Shape* const* shapes, int count, int* image, int w, int h) {
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= w || y >= h) return;
    int hit = 0;
    for (int s = 0; s < count; s++)
        if (shapes[s]->distance(x, y) <= 0) hit |= 1 << s;
    image[y * w + x] = hit;
}
__global__ void destroy(Shape** shapes, int count) {
    if (threadIdx.x < count) delete shapes[threadIdx.x];
}
int main() {
    const int w = 45, h = 27;
    Shape** shapes;
    int* image;
    cudaMalloc(&shapes, 3 * sizeof(Shape*));
    cudaMalloc(&image, w * h * sizeof(int));
    create<<<1, 1>>>(shapes);
    render<<<dim3((w + 7) / 8, (h + 7) / 8), dim3(8, 8)>>>(shapes, 3, image, w, h);
    destroy<<<1, 32>>>(shapes, 3);
    std::vector<int> got(w * h);
    cudaMemcpy(got.data(), image, w * h * sizeof(int), cudaMemcpyDeviceToHost);
    bool good = cudaDeviceSynchronize() == cudaSuccess;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int want = ((x - 10) * (x - 10) + (y - 12) * (y - 12) <= 25) + 2 * (y >= 20) +
                       4 * ((x - 30) * (x - 30) + (y - 8) * (y - 8) <= 9);
            good = good && got[y * w + x] == want;
        }
    puts(good ? "PASS" : "FAIL");
}
