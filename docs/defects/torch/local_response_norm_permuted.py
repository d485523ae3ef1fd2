"""local_response_norm raises for five axes that lie in another order

It makes four axes of five by a view, which an input of other strides has not.

Ledger: local_response_norm forward
Expected:
    contiguous (2, 3, 4, 5, 6)
    permuted (2, 3, 4, 5, 6)
"""

import torch

x = torch.zeros(2, 3, 4, 5, 6)
for name, given in (("contiguous", x), ("permuted", x.transpose(3, 4).contiguous().transpose(3, 4))):
    try:
        print(name, tuple(torch.nn.functional.local_response_norm(given, 3).shape))
    except RuntimeError as error:
        print(name, type(error).__name__)
