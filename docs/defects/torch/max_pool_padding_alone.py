"""max_pool2d and max_pool3d write outside of their gradient where a dilated window meets padding alone

Such a window has no largest element. PyTorch gives -inf, and as its place one past the end of the plane. The backward
adds the gradient there, which is another plane's, or memory behind the tensor: glibc ends the process later.

Refused: max_pool2d, max_pool3d
Expected:
    2d places within the plane True
    3d places within the volume True
"""

import torch
import torch.nn.functional as F

x = torch.ones(1, 1, 1, 9)
_, places = F.max_pool2d(x, 2, stride=1, padding=(1, 0), dilation=(2, 1), return_indices=True)
print("2d places within the plane", bool((places < x[0, 0].numel()).all()))
x = torch.ones(1, 1, 1, 3, 3)
_, places = F.max_pool3d(x, (2, 1, 1), stride=1, padding=(1, 0, 0), dilation=(2, 1, 1), return_indices=True)
print("3d places within the volume", bool((places < x[0, 0].numel()).all()))
