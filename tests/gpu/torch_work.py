"""The workloads that the PyTorch tests share."""
import gc


def deterministic():
    import torch

    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    return torch


ENVIRONMENT = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}


def train(torch, steps=20):
    """A small CNN; prints the losses exactly. Returns what holds the model's memory."""
    nn = torch.nn
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
                          nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
                          nn.Flatten(), nn.Linear(32 * 16 * 16, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images = torch.randn(64, 3, 32, 32).cuda()
    labels = torch.randint(0, 10, (64,)).cuda()
    for step in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        print("step", step, "loss", loss.item().hex())
    return model, optimizer


def convolve(torch):
    """One convolution by cuDNN."""
    result = torch.nn.functional.conv2d(torch.ones(1, 3, 16, 16).cuda(),
                                        torch.ones(4, 3, 3, 3).cuda(), padding=1)
    print("cudnn", torch.backends.cudnn.is_available(), "conv2d", result.sum().item())


def capture(torch):
    """A CUDA graph, replayed twice."""
    values = torch.zeros(1 << 20, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        (values * 2 + 1).max()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = (values * 2 + 1).max()
    for value in (3, 4):
        values.fill_(value)
        graph.replay()
        print("graph", result.item())


def clean(torch):
    """Frees what nobody holds any longer, cuBLAS's workspaces included."""
    gc.collect()
    torch.cuda.synchronize()
    clear = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)
    if clear:
        clear()
    torch.cuda.synchronize()
