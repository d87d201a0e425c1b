// A stack machine: a dense `switch`, which becomes a jump table (brx.idx).
enum { PUSH, ADD, SUB, MUL, AND, OR, XOR, SHIFT, MIN, MAX, DUP, SWAP, JUMP_IF_NOT_ZERO, THREAD, STORE, HALT };

extern "C" __global__ void interpreter(const int *code, int *out) {
    int stack[16], top = 0, at = 0;
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (;;) {
        switch (code[at++]) {
        case PUSH: stack[top++] = code[at++]; break;
        case ADD: --top; stack[top - 1] += stack[top]; break;
        case SUB: --top; stack[top - 1] -= stack[top]; break;
        case MUL: --top; stack[top - 1] *= stack[top]; break;
        case AND: --top; stack[top - 1] &= stack[top]; break;
        case OR: --top; stack[top - 1] |= stack[top]; break;
        case XOR: --top; stack[top - 1] ^= stack[top]; break;
        case SHIFT: --top; stack[top - 1] <<= stack[top] & 31; break;
        case MIN: --top; stack[top - 1] = min(stack[top - 1], stack[top]); break;
        case MAX: --top; stack[top - 1] = max(stack[top - 1], stack[top]); break;
        case DUP: stack[top] = stack[top - 1]; ++top; break;
        case SWAP: { int x = stack[top - 1]; stack[top - 1] = stack[top - 2]; stack[top - 2] = x; break; }
        case JUMP_IF_NOT_ZERO: { int to = code[at++]; if (stack[--top]) at = to; break; }
        case THREAD: stack[top++] = thread; break;
        case STORE: out[thread] = stack[--top]; break;
        default: return;
        }
    }
}
