// wgmma.mma_async on an H200: many forms, on operands that come from seeds; the results as bits.
//
//   measure all CASES OUT   every case of the list; OUT gets results.bin (words of the first tiles), index.txt
//   measure fault N         one descriptor that may be a fault (each in a process of its own)
//   measure count           some launch to count (under ncu)
#include "common.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>
using std::string;
using std::vector;

extern const Kernel table_0[], table_1[], table_2[], table_3[];
extern const int n_0, n_1, n_2, n_3;

#define RT(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("FAILED %s: %s (line %d)\n", #x, cudaGetErrorString(e_), __LINE__); fflush(stdout); exit(1); } } while (0)

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// ---- operands ---------------------------------------------------------------------------------
// Element `i` of region `region` (0 A, 1 B, 2 A in registers, 3 C) of a tile with seed `seed` is made of
// r = mix(mix(seed * 4 + region) ^ i), and of the pair's s = mix(mix(seed * 4) ^ (i / 2) ^ 2^40), in both A and B the same s.

struct Format { int bits, exponent, fraction; };
static Format format_of(const string &t) {
    if (t == "f16") return {16, 5, 10};
    if (t == "bf16") return {16, 8, 7};
    if (t == "tf32" || t == "f32") return {32, 8, 23};
    if (t == "e4m3") return {8, 4, 3};
    if (t == "e5m2") return {8, 5, 2};
    if (t == "s32") return {32, 0, 0};
    return {8, 0, 0}; // s8, u8, b1: bytes
}
static int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

static uint32_t element(const string &type, const string &cls, uint64_t seed, int region, uint64_t i) {
    const Format f = format_of(type);
    uint64_t r = mix(mix(seed * 4 + region) ^ i);
    const uint64_t s = mix(mix(seed * 4) ^ (i / 2) ^ (1ull << 40));
    const uint32_t all = f.bits == 32 ? 0xffffffffu : (1u << f.bits) - 1;
    if (cls == "zero") return 0;
    if (f.exponent == 0) {
        uint32_t x = (uint32_t)(r >> 20) & all;
        if (cls == "limit") x = (r & 1 ? 0x7fffffffu : 0x80000000u) ^ (x >> 14);
        return x;
    }
    if (cls == "any") return (uint32_t)(r >> 20) & all;
    bool flip = false;
    if (cls == "paira") r = s;
    if (cls == "pairb" && (r >> 60) != 0) { r = mix(s); flip = i & 1; }
    const int bias = (1 << (f.exponent - 1)) - 1, most = (1 << f.exponent) - (type == "e4m3" ? 1 : 2);
    const uint32_t random = (uint32_t)(r >> 32);      // for the exponent
    uint32_t fraction = (uint32_t)(r >> 8) & ((1u << f.fraction) - 1);
    uint32_t sign = (uint32_t)r & 1;
    const uint32_t choice = (uint32_t)(r >> 1) & 63;
    int e;
    if (cls == "near") e = bias - 2 + random % 4;
    else if (cls == "mid" || cls == "paira" || cls == "pairb") e = bias - 12 + random % 24;
    else if (cls == "wide") e = random % (most + 1);
    else if (cls == "low") e = random % 3;
    else if (cls == "lowproduct") e = f.exponent == 8 ? bias - 70 + random % 14 : random % (bias / 2 + 2);
    else if (cls == "sparse") {
        if (choice & 3) return 0;
        if (choice & 4) fraction = choice & 8 ? 1 : 0;
        e = bias - 14 + random % 28;
    } else if (cls == "gap") e = choice % 8 == 0 ? bias + 2 + (int)(mix(seed) % 12) : bias - random % 4;
    else if (cls == "special") {
        e = bias - 2 + random % 4;
        if (choice == 0) { e = most + 1; fraction = 0; }
        if (choice == 1 && (random >> 8) % 4 == 0) { e = most + 1; }
        if (choice == 2) { e = 0; fraction = 0; }
    } else { printf("no class %s\n", cls.c_str()); exit(1); }
    e = clamp(e, 0, cls == "special" ? most + 1 : most);
    if (type == "e4m3") {
        e = e > 15 ? 15 : e;
        if (cls == "special" && choice <= 1 && (random >> 8) % 4 == 0) { e = 15; fraction = 7; }
        else if (e == 15 && fraction == 7) fraction = 6;
    }
    if (flip) sign ^= 1;
    return sign << (f.exponent + f.fraction) | (uint32_t)e << f.fraction | fraction;
}
static uint32_t place_pattern(uint64_t i) { return i < 31743 ? (uint32_t)i + 1 : 0x8000u | (uint32_t)(i - 31743 + 1); }

// Elements as they lie in memory.
static void fill(uint8_t *to, size_t bytes, const string &type, const string &cls, uint64_t seed, int region) {
    const int width = format_of(type).bits / 8;
    for (size_t i = 0; i < bytes / width; i++) {
        uint32_t x = cls == "places" ? place_pattern(i) : element(type, cls, seed, region, i);
        memcpy(to + i * width, &x, width);
    }
}

struct Case {
    string kernel;
    uint32_t image, split;
    uint64_t da, db;
    uint32_t a_step, b_step, chain, keep;
    string a, b, c;
    int tiles, raw;
    string kind;
};
static const uint16_t ONE = 0x3c00;

struct Operands { vector<uint8_t> image; vector<uint32_t> a, c; };
static Operands operands(const Case &x, const Kernel &k, size_t index) {
    Operands o;
    o.image.resize((size_t)x.image * x.tiles);
    o.a.resize(512 * x.tiles);
    o.c.resize((size_t)128 * k.registers * x.tiles);
    for (int tile = 0; tile < x.tiles; tile++) {
        const uint64_t seed = index * 1000 + tile;
        uint8_t *image = o.image.data() + (size_t)tile * x.image;
        if (x.split) fill(image, x.split, k.a, x.a, seed, 0);
        if (x.b == "identity") {
            memset(image + x.split, 0, x.image - x.split);
            for (int i = 0; i < 16; i++) memcpy(image + x.split + i / 8 * 256 + i / 8 * 128 + i % 8 * 16 + i % 8 * 2, &ONE, 2);
        } else fill(image + x.split, x.image - x.split, k.b, x.b, seed, 1);
        uint32_t *a = o.a.data() + tile * 512;
        if (x.a == "identity") {
            for (int lane = 0; lane < 32; lane++) for (int r = 0; r < 4; r++) for (int h = 0; h < 2; h++)
                if (lane / 4 + r % 2 * 8 == lane % 4 * 2 + r / 2 * 8 + h) a[lane * 4 + r] |= (uint32_t)ONE << (16 * h);
        } else if (x.a != "places") fill((uint8_t *)a, 2048, k.a, x.a, seed, 2);
        fill((uint8_t *)(o.c.data() + (size_t)tile * 128 * k.registers), (size_t)512 * k.registers, k.d, x.c, seed, 3);
    }
    return o;
}

static vector<Kernel> kernels() {
    vector<Kernel> all;
    all.insert(all.end(), table_0, table_0 + n_0);
    all.insert(all.end(), table_1, table_1 + n_1);
    all.insert(all.end(), table_2, table_2 + n_2);
    all.insert(all.end(), table_3, table_3 + n_3);
    return all;
}
static Kernel find(const string &name) {
    for (const Kernel &k : kernels()) if (name == k.name) return k;
    printf("FAILED: no kernel %s\n", name.c_str());
    exit(1);
}

static uint64_t hashed(const uint32_t *words, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += mix(words[i] ^ (i + 1) * 0x9e3779b97f4a7c15ull);
    return sum;
}
static uint16_t half_of(uint32_t bits) { // Exact halves only; else 0xffff.
    const uint32_t sign = bits >> 16 & 0x8000, field = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    if ((bits & 0x7fffffff) == 0) return sign;
    const int e = (int)field - 127 + 15;
    if (e >= 1 && e < 31 && (fraction & 0x1fff) == 0) return sign | e << 10 | fraction >> 13;
    if (e < 1 && e > -10) {
        const uint32_t significand = fraction | 0x800000, by = 14 - e;
        if ((significand & ((1u << by) - 1)) == 0) return sign | significand >> by;
    }
    return 0xffff;
}

struct Device { uint4 *image; uint32_t *a, *c, *d; long long *clocks; };
static cudaError_t launch(const Case &x, const Kernel &k, const Operands &o, const Device &m, vector<uint32_t> &d, vector<long long> &clocks, uint32_t shared = 0) {
    RT(cudaMemcpy(m.image, o.image.data(), o.image.size(), cudaMemcpyHostToDevice));
    RT(cudaMemcpy(m.a, o.a.data(), o.a.size() * 4, cudaMemcpyHostToDevice));
    RT(cudaMemcpy(m.c, o.c.data(), o.c.size() * 4, cudaMemcpyHostToDevice));
    d.assign(o.c.size(), 0xdeadbeef);
    RT(cudaMemcpy(m.d, d.data(), d.size() * 4, cudaMemcpyHostToDevice));
    Params p{m.image, x.image, m.a, m.c, m.d, m.clocks, x.da, x.db, x.a_step >> 4, x.b_step >> 4, x.chain, x.keep, 0};
    if (!shared) shared = 204800; // More than any descriptor of the list reaches.
    p.shared_bytes = shared;
    void *arguments[] = {&p};
    RT(cudaFuncSetAttribute(k.function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    RT(cudaLaunchKernel(k.function, dim3(x.tiles), dim3(128), arguments, shared, 0));
    cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) return e;
    RT(cudaMemcpy(d.data(), m.d, d.size() * 4, cudaMemcpyDeviceToHost));
    clocks.resize(x.tiles);
    RT(cudaMemcpy(clocks.data(), m.clocks, x.tiles * 8, cudaMemcpyDeviceToHost));
    return e;
}

int main(int n, char **args) {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    Device m;
    RT(cudaMalloc(&m.image, 64u << 20));
    RT(cudaMalloc(&m.a, 16u << 20));
    RT(cudaMalloc(&m.c, 64u << 20));
    RT(cudaMalloc(&m.d, 64u << 20));
    RT(cudaMalloc(&m.clocks, 1u << 20));
    const string mode = n > 1 ? args[1] : "";
    vector<uint32_t> d;
    vector<long long> clocks;
    if (mode == "all" && n > 3) {
        std::ifstream list(args[2]);
        FILE *raw = fopen((string(args[3]) + "/results.bin").c_str(), "ab"), *index = fopen((string(args[3]) + "/index.txt").c_str(), "a");
        const size_t first = n > 4 ? atoi(args[4]) : 0;
        if (first == 0) fprintf(index, "# case, offset and bytes in results.bin, clocks of the first tile, hash of all operands, hashes of each tile's result\n");
        string line;
        size_t number = 0, offset = ftell(raw);
        while (std::getline(list, line)) {
            if (line.empty() || line[0] == '#') continue;
            Case x;
            std::istringstream(line) >> x.kernel >> x.image >> x.split >> std::hex >> x.da >> x.db >> std::dec >> x.a_step >> x.b_step >> x.chain >> x.keep >> x.a >> x.b >> x.c >> x.tiles >> x.raw >> x.kind;
            if (number < first) { number++; continue; }
            const Kernel k = find(x.kernel);
            const Operands o = operands(x, k, number);
            cudaError_t e = launch(x, k, o, m, d, clocks);
            if (e != cudaSuccess) {
                printf("case %zu: %s: %s\n", number, cudaGetErrorString(e), line.c_str());
                fprintf(index, "%zu failed %s\n", number, cudaGetErrorName(e));
                fclose(index);
                fclose(raw);
                FILE *next = fopen((string(args[3]) + "/next").c_str(), "w"); // The context is lost: another process goes on.
                fprintf(next, "%zu", number + 1);
                fclose(next);
                return 3;
            }
            const size_t words = (size_t)128 * k.registers;
            const size_t from = offset;
            if (x.kind == "w") offset += 4 * fwrite(d.data(), 4, words * x.raw, raw);
            else for (int tile = 0; tile < x.raw; tile++) {
                vector<uint16_t> halves(x.kind == "H" ? words / 4 : words);
                for (size_t i = 0; i < halves.size(); i++) halves[i] = half_of(d[tile * words + i]);
                offset += 2 * fwrite(halves.data(), 2, halves.size(), raw);
            }
            uint64_t inputs = hashed((const uint32_t *)o.image.data(), o.image.size() / 4) + 3 * hashed(o.a.data(), o.a.size()) + 5 * hashed(o.c.data(), o.c.size());
            fprintf(index, "%zu %zu %zu %lld %016llx", number, from, offset - from, clocks[0], (unsigned long long)inputs);
            for (int tile = 0; tile < x.tiles; tile++) fprintf(index, " %016llx", (unsigned long long)hashed(d.data() + tile * words, words));
            fprintf(index, "\n");
            number++;
        }
        fclose(raw);
        fclose(index);
        printf("%zu cases, %zu bytes\n", number, offset);
        return 0;
    }
    if (mode == "fault" && n > 2) {
        // B from `places` (K-major, no swizzle, 64 columns), A the identity.
        const int which = atoi(args[2]);
        const Kernel k = find("f32.f16.f16.n64.rs.t00.s++");
        Case x{k.name, 65536, 0, 0, 0, 0, 0, 1, 0, "identity", "places", "zero", 1, 1, "w"};
        const uint64_t right = 128ull >> 4 << 16 | 256ull >> 4 << 32;
        const struct { const char *what; uint64_t db; } tries[] = {
            {"right", right},
            {"behind the block's dynamic memory (64 KiB), start 72 KiB", right | (73728 >> 4)},
            {"start 228 KiB", right | (233472 >> 4)},
            {"start 250 KiB", right | (256000 >> 4)},
            {"strides past 256 KiB (sbo 60000)", (128ull >> 4 << 16) | (60000ull >> 4 << 32)},
            {"strides past 256 KiB (sbo 262128)", (128ull >> 4 << 16) | (262128ull >> 4 << 32)},
            {"bit 14", right | 1ull << 14}, {"bit 15", right | 1ull << 15},
            {"bit 30", right | 1ull << 30}, {"bit 31", right | 1ull << 31},
            {"bit 46", right | 1ull << 46}, {"bit 47", right | 1ull << 47}, {"bit 48", right | 1ull << 48},
            {"bit 52", right | 1ull << 52}, {"bit 53", right | 1ull << 53}, {"bit 56", right | 1ull << 56}, {"bit 61", right | 1ull << 61},
            {"base offset 3 without swizzle", right | 3ull << 49},
            {"start 0 - 1 KiB (below the dynamic memory)", right - (1024 >> 4)},
        };
        if (which >= (int)(sizeof tries / sizeof *tries)) return 2;
        x.db = tries[which].db;
        const Operands o = operands(x, k, 0);
        vector<uint32_t> wanted;
        Case y = x;
        y.db = right;
        RT(launch(y, k, o, m, wanted, clocks));
        cudaError_t e = launch(x, k, o, m, d, clocks, x.image);
        if (e != cudaSuccess) { printf("%d %s: %s\n", which, tries[which].what, cudaGetErrorName(e)); return 0; }
        size_t same = 0, zero = 0, n_words = 32 * k.registers;
        for (size_t i = 0; i < n_words; i++) { same += d[i] == wanted[i]; zero += d[i] == 0; }
        printf("%d %s: no error; of %zu words %zu as of the right one, %zu zero; first:", which, tries[which].what, n_words, same, zero);
        for (int i = 0; i < 8; i++) printf(" %d", (int)half_of(d[i]));
        printf("\n");
        return 0;
    }
    if (mode == "count") {
        // 256 products of one tile, f16 with 256 columns.
        auto swizzled = [](uint64_t start, uint64_t lbo, uint64_t sbo, uint64_t mode) { return start >> 4 | lbo >> 4 << 16 | sbo >> 4 << 32 | mode << 62; };
        const struct { const char *what, *kernel; uint64_t da, db; } tries[] = {
            {"128-byte swizzle", "f32.f16.f16.n256.ss.t00.s++", swizzled(0, 16, 1024, 1), swizzled(16384, 16, 1024, 1)},
            {"64-byte swizzle", "f32.f16.f16.n256.ss.t00.s++", swizzled(0, 16, 512, 2), swizzled(16384, 16, 512, 2)},
            {"32-byte swizzle", "f32.f16.f16.n256.ss.t00.s++", swizzled(0, 16, 256, 3), swizzled(16384, 16, 256, 3)},
            {"no swizzle, 128 and 256", "f32.f16.f16.n256.ss.t00.s++", swizzled(0, 128, 256, 0), swizzled(16384, 128, 256, 0)},
            {"no swizzle, both strides 1024", "f32.f16.f16.n256.ss.t00.s++", swizzled(0, 1024, 1024, 0), swizzled(16384, 1024, 1024, 0)},
            {"A in registers, 128-byte swizzle", "f32.f16.f16.n256.rs.t00.s++", 0, swizzled(16384, 16, 1024, 1)},
            {"8 columns, 128-byte swizzle", "f32.f16.f16.n8.ss.t00.s++", swizzled(0, 16, 1024, 1), swizzled(16384, 16, 1024, 1)},
            {"64 columns of MN-major B, 128-byte swizzle, A in registers", "f32.f16.f16.n64.rs.t01.s++", 0, swizzled(16384, 8192, 1024, 1)},
            {"64 columns of K-major B, 128-byte swizzle, A in registers", "f32.f16.f16.n64.rs.t00.s++", 0, swizzled(16384, 16, 1024, 1)},
        };
        for (int which = 0; which < (int)(sizeof tries / sizeof *tries); which++) {
        const Kernel k = find(tries[which].kernel);
        Case x{k.name, 16384 + 65536, 16384, tries[which].da, tries[which].db, 0, 0, 256, 1, "near", "near", "near", 1, 1, "w"};
        const Operands o = operands(x, k, 0);
        RT(launch(x, k, o, m, d, clocks));
        RT(launch(x, k, o, m, d, clocks));
        printf("count %d: %s: 256 products in %lld clocks\n", which, tries[which].what, clocks[0]);
        }
        return 0;
    }
    printf("what?\n");
    return 2;
}
