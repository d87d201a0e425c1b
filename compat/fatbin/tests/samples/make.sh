#!/bin/sh
# Makes the samples. nvcc is CUDA 13.0's (13.0.88), PTXAS_12 the ptxas of CUDA 12.9 (12.9.86);
# both come with the Python packages nvidia-cuda-nvcc and nvidia-cuda-nvcc-cu12.
set -e
ptx_80="-gencode arch=compute_80,code=compute_80"
for mode in none speed balance size default; do
    nvcc -fatbin -compress-mode=$mode $ptx_80 scale.cu -o $mode.fatbin
done
nvcc -fatbin $ptx_80 scale.cu -o several.fatbin \
    -gencode arch=compute_75,code=compute_75 \
    -gencode arch=compute_90a,code=compute_90a \
    -gencode arch=compute_120f,code=compute_120f \
    -gencode arch=compute_80,code=sm_80
nvcc -fatbin -Xfatbin -compress-all scale.cu -o machine.fatbin \
    -gencode arch=compute_90,code=sm_90 -gencode arch=compute_100,code=sm_100
nvcc -fatbin -rdc=true -gencode arch=compute_80,code=lto_80 scale.cu -o intermediate.fatbin
nvcc -ptx -arch=compute_80 scale.cu -o scale.ptx
nvcc -cubin -arch=sm_90 scale.cu -o cuda_13.cubin
sed 's/^\.version 9\.0/.version 8.0/' scale.ptx | "$PTXAS_12" -arch=sm_90 -o cuda_12.cubin -
fatbinary -64 --create=named.fatbin --ident="scale module" --image3=kind=ptx,sm=80,file=scale.ptx
