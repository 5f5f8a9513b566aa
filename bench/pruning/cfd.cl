// Euler's equations of a compressible gas on an unstructured mesh of tetrahedra: an item is a cell. Of each cell five variables
// are kept, each in an array of its own: density, momentum in three directions, energy.

enum { density = 0, momentum_x = 1, momentum_y = 2, momentum_z = 3, energy = 4, variables = 5, faces = 4 };
#define GAMMA 1.4f

typedef struct {
    float3 momentum;
    float density, energy, pressure, speed_of_sound, speed_squared;
    float3 velocity;
} Cell;

static void complete(Cell *cell) {
    cell->velocity = cell->momentum / cell->density;
    cell->speed_squared = dot(cell->velocity, cell->velocity);
    cell->pressure = (GAMMA - 1.0f) * (cell->energy - 0.5f * cell->density * cell->speed_squared);
    cell->speed_of_sound = sqrt(GAMMA * cell->pressure / cell->density);
}

static Cell load_cell(__global const float *v, int at, int stride) {
    Cell cell;
    cell.density = v[at + density * stride];
    cell.momentum = (float3)(v[at + momentum_x * stride], v[at + momentum_y * stride], v[at + momentum_z * stride]);
    cell.energy = v[at + energy * stride];
    complete(&cell);
    return cell;
}

__kernel void initialize_variables(int cells, __global float *values, __constant float *far_field, int stride) {
    const int cell = get_global_id(0);
    if (cell >= cells) return;
    for (int v = 0; v < variables; ++v) values[cell + v * stride] = far_field[v];
}

__kernel void compute_step_factor(int cells, __global const float *values, __global const float *areas,
                                  __global float *factors, int stride) {
    const int at = get_global_id(0);
    if (at >= cells) return;
    const Cell cell = load_cell(values, at, stride);
    factors[at] = 0.5f / (sqrt(areas[at]) * (sqrt(cell.speed_squared) + cell.speed_of_sound));
}

typedef struct {
    float3 x, y, z, energy;
} Flux;

static Flux flux_of(const Cell *cell) {
    Flux flux;
    flux.x = cell->velocity.x * cell->momentum;
    flux.y = cell->velocity.y * cell->momentum;
    flux.z = cell->velocity.z * cell->momentum;
    flux.x.x += cell->pressure;
    flux.y.y += cell->pressure;
    flux.z.z += cell->pressure;
    flux.energy = cell->velocity * (cell->energy + cell->pressure);
    return flux;
}

// Neighbour -1 is a wall, -2 the far field.
__kernel void compute_flux(int cells, __global const int *neighbours, __global const float *normals,
                           __global const float *values, __constant float *far_field, __global float *fluxes, int stride) {
    const int at = get_global_id(0);
    if (at >= cells) return;
    const float smoothing = 0.2f;
    const Cell own = load_cell(values, at, stride);
    const Flux own_flux = flux_of(&own);
    float of_density = 0, of_energy = 0;
    float3 of_momentum = (float3)(0, 0, 0);
    for (int face = 0; face < faces; ++face) {
        const int other_at = neighbours[at + face * stride];
        const float3 normal = (float3)(normals[at + (face + 0 * faces) * stride], normals[at + (face + 1 * faces) * stride],
                                       normals[at + (face + 2 * faces) * stride]);
        const float area = length(normal);
        if (other_at >= 0) {
            const Cell other = load_cell(values, other_at, stride);
            const Flux flux = flux_of(&other);
            const float factor = -area * smoothing * 0.5f *
                                 (own.speed_of_sound + sqrt(own.speed_squared) + other.speed_of_sound +
                                  sqrt(other.speed_squared));
            of_density += factor * (own.density - other.density);
            of_energy += factor * (own.energy - other.energy);
            of_momentum += factor * (own.momentum - other.momentum);
            const float3 middle = 0.5f * normal;
            of_density += dot(middle, own.momentum + other.momentum);
            of_energy += dot(middle, own_flux.energy + flux.energy);
            of_momentum.x += dot(middle, own_flux.x + flux.x);
            of_momentum.y += dot(middle, own_flux.y + flux.y);
            of_momentum.z += dot(middle, own_flux.z + flux.z);
        } else if (other_at == -1) {
            of_momentum += normal * own.pressure;
        } else {
            const float3 middle = 0.5f * normal,
                         momentum = (float3)(far_field[momentum_x], far_field[momentum_y], far_field[momentum_z]);
            of_density += dot(middle, momentum + own.momentum);
            of_energy += dot(middle, own_flux.energy) + middle.x * far_field[5];
            of_momentum.x += dot(middle, own_flux.x) + middle.x * far_field[6];
            of_momentum.y += dot(middle, own_flux.y) + middle.y * far_field[7];
            of_momentum.z += dot(middle, own_flux.z) + middle.z * far_field[8];
        }
    }
    fluxes[at + density * stride] = of_density;
    fluxes[at + momentum_x * stride] = of_momentum.x;
    fluxes[at + momentum_y * stride] = of_momentum.y;
    fluxes[at + momentum_z * stride] = of_momentum.z;
    fluxes[at + energy * stride] = of_energy;
}

// One of three Runge-Kutta stages.
__kernel void time_step(int stage, int cells, __global const float *old_values, __global float *values,
                        __global const float *factors, __global const float *fluxes, int stride) {
    const int at = get_global_id(0);
    if (at >= cells) return;
    const float factor = factors[at] / (float)(3 + 1 - stage);
    for (int v = 0; v < variables; ++v) values[at + v * stride] = old_values[at + v * stride] + factor * fluxes[at + v * stride];
}
