"""Devices of a library by name: passed on, told plainly where they are absent, and nothing left to the CPU unasked."""

from __future__ import annotations

import dataclasses
import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest

from opproof.backends import BackendFailed, Unsupported
from opproof.backends.load import list_devices, load_backend
from opproof.backends.table import find_device, split_device
from opproof.core.capabilities import library_of
from opproof.core.errors import BackendError

X = np.linspace(-3, 3, 24, dtype=np.float32).reshape(4, 6)
EXAMPLE = Path(__file__).parents[2] / "examples" / "ggml_devices" / "build_vulkan.py"
NOWHERE = "on this machine; give one that it has: "


def test_a_device_stands_behind_the_last_at():
    assert split_device("") == ("", None)
    assert split_device("@GPU") == ("", "GPU")
    assert split_device("/a@b/lib") == ("/a@b/lib", None)
    assert split_device("/a@b/lib@Vulkan0") == ("/a@b/lib", "Vulkan0")
    assert [library_of(s) for s in ("ggml@CPU", "ggml:/a@CPU", "torch+isa=avx2")] == ["ggml", "ggml", "torch"]
    assert find_device("x", "gpu.0", ["CPU", "GPU.0"]) == "GPU.0"
    with pytest.raises(BackendError, match=f"^backend x has no device '' {NOWHERE}CPU\\.$"):
        find_device("x", "", ["CPU"])


@pytest.mark.parametrize(
    ("spec", "module", "there"),
    [
        ("ggml@Vulkan0", "pywhispercpp", "CPU"),
        ("torch:xpu", "torch", "cpu"),
        ("jax:gpu", "jax", "cpu"),
        ("mlx:gpu", "mlx.core", "cpu"),
        ("onnxruntime@TensorRT", "onnxruntime", "Azure, CPU"),
        ("openvino:bf16@NPU", "openvino", "CPU"),
    ],
)
def test_a_device_that_is_not_there_is_said_in_one_sentence(spec, module, there):
    pytest.importorskip(module, reason=f"{spec} needs {module}")
    device = spec.replace("@", ":").rpartition(":")[2]
    with pytest.raises(
        BackendError, match=f"^backend {library_of(spec)} has no device '{device}' {NOWHERE}{there}\\.$"
    ):
        load_backend(spec)


@pytest.mark.parametrize("spec", ["ggml@cpu", "onnxruntime@CPUExecutionProvider", "openvino:default@cpu", "torch:cpu"])
def test_the_cpu_by_its_name_is_the_cpu(spec):
    pytest.importorskip({"ggml": "pywhispercpp"}.get(library_of(spec), library_of(spec)), reason=f"{spec} needs it")
    backend = load_backend(spec)
    assert backend.device == "cpu"
    np.testing.assert_array_equal(backend.forward("relu", [X], {})[0], np.maximum(X, 0))


def test_a_provider_that_has_no_kernel_leaves_nothing_to_the_cpu():
    """The Azure provider computes nothing here: unasked, ONNX Runtime would have the CPU's compute all of it."""
    ort = pytest.importorskip("onnxruntime")
    if "AzureExecutionProvider" not in ort.get_available_providers():
        pytest.skip("this build of ONNX Runtime has no provider beside the CPU's")
    with pytest.raises(Unsupported, match=r"^ONNX Runtime: .*fallback to CPU EP has been explicitly disabled"):
        load_backend("onnxruntime@Azure").forward("relu", [X], {})


def test_a_gpu_that_jax_mlx_or_pytorch_finds_is_taken(monkeypatch):
    mx, torch = pytest.importorskip("mlx.core"), pytest.importorskip("torch")
    taken = []
    monkeypatch.setattr(mx, "is_available", lambda device: True)
    monkeypatch.setattr(mx, "set_default_device", taken.append)
    assert load_backend("mlx:gpu").device == "gpu"
    assert taken == [mx.gpu]
    monkeypatch.setattr(torch.xpu, "is_available", lambda: True)
    monkeypatch.setattr(torch.xpu, "get_device_name", lambda: "some GPU")
    assert load_backend("torch:xpu").device == "xpu"
    assert list_devices("torch")["torch:xpu"] == "some GPU"


# PyTorch's compiler


@pytest.fixture
def inductor(monkeypatch):
    """The adapter, with programs that are not compiled but counted."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "g++" else None)
    backend = load_backend("torch:inductor")
    backend.made = []
    monkeypatch.setattr(torch, "compile", lambda f, **_: backend.made.append(f) or f)
    return backend


def test_calls_of_one_kind_are_one_program(inductor):
    for x in (X, -X, X[:, :3], X.T):
        np.testing.assert_array_equal(inductor.forward("relu", [x], {})[0], np.maximum(x, 0))
    assert len(inductor.made) == 3
    np.testing.assert_array_equal(inductor.vjp("relu", [X], {}, [X], [True])[0], np.maximum(X, 0))
    assert len(inductor.made) == 4  # a gradient is another program
    assert inductor.destinations == ()


def test_no_compiler_of_cpp(inductor, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(BackendError, match=r"^backend torch:inductor calls a C\+\+ compiler, [^.]*; install g\+\+, "):
        load_backend("torch:inductor")


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated:DeprecationWarning")
def test_what_inductor_compiles_is_right():
    pytest.importorskip("torch")
    inductor = load_backend("torch:inductor")
    from torch._inductor import metrics

    before = metrics.generated_kernel_count
    np.testing.assert_allclose(inductor.forward("softmax", [X], {"dim": 0})[0].sum(0), np.ones(6), rtol=1e-6)
    np.testing.assert_allclose(inductor.vjp("square", [X], {}, [X], [True])[0], 2 * X * X, rtol=1e-6)
    assert metrics.generated_kernel_count >= before + 2


# ggml's registry


@pytest.fixture(scope="module")
def ggml():
    """ggml's CPU backend as a device with memory of its own, as a GPU has."""
    pytest.importorskip("pywhispercpp", reason="ggml: the wheel of pywhispercpp has the library")
    from opproof.backends.ggml import create

    backend = create("@CPU")
    backend._device = dataclasses.replace(backend._device, everywhere=None)
    return backend


def test_tensors_are_copied_to_a_device_and_back(ggml):
    x = X.T[::2]  # strided: the device gets the gaps too
    np.testing.assert_array_equal(ggml.forward("relu", [x], {})[0], np.maximum(x, 0))
    np.testing.assert_allclose(ggml.forward("matmul", [x, X], {})[0], x @ X, rtol=1e-5)
    np.testing.assert_allclose(ggml.vjp("square", [x], {}, [X[:3, :4]], [True])[0], 2 * x * X[:3, :4], rtol=1e-6)
    assert ggml.forward("relu", [np.zeros((0, 3), np.float32)], {})[0].shape == (0, 3)


def test_a_write_behind_a_tensor_on_a_device_is_seen(ggml, monkeypatch):
    whole = type(ggml._device).read_buffer

    def read_buffer(device, buffer):
        base, found = whole(device, buffer)
        found[-1] ^= 1
        return base, found

    monkeypatch.setattr(type(ggml._device), "read_buffer", read_buffer)
    with pytest.raises(BackendFailed, match="^ggml wrote 1 bytes behind the end of a tensor$"):
        ggml.forward("relu", [X], {})


class Never:
    """A C function that answers no."""

    restype = None

    def __call__(self, *_):
        return False


def test_what_a_device_declines_is_its_own_word(ggml, monkeypatch):
    whole = type(ggml._device.library).function
    monkeypatch.setattr(
        type(ggml._device.library),
        "function",
        lambda library, name: Never() if name == "ggml_backend_supports_op" else whole(library, name),
    )
    with pytest.raises(Unsupported, match="^ggml's CPU backend says that it does not support this RELU$"):
        ggml.forward("relu", [X], {})


def test_the_devices_of_ggml_are_listed_with_what_they_support(ggml):
    (said,) = list_devices("ggml").items()
    assert said[0] == "ggml@CPU"
    assert "; of 33 functions 33 in f32, " in said[1]
    assert "mul_mat with q4_0, " in said[1]
    library = Path(ggml._device.library.path)
    assert list(list_devices(f"ggml:{library}")) == [f"ggml:{library}@CPU"]


def test_a_folder_without_a_registry_is_told(ggml, tmp_path):
    from opproof.backends.ggml.devices import describe_devices

    plain = dataclasses.replace(ggml._device.library, handles=())
    with pytest.raises(BackendError, match=r"has no registry of devices \(this ggml has no ggml_backend_dev_count\); "):
        describe_devices(plain)


def test_vulkan_headers_without_layer_settings_are_enough():
    spec = importlib.util.spec_from_file_location("build_vulkan", EXAMPLE)
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    code = (
        "    std::vector<vk::LayerSettingEXT> settings = {\n    };\n"
        "    vk::LayerSettingsCreateInfoEXT layer_setting_info(settings);\n"
        "    vk::InstanceCreateInfo info(flags, &app_info, layers, extensions, &layer_setting_info);\n"
    )
    guarded = build.guard_layer_settings(code)
    plain = [line for line in guarded.splitlines() if not line.startswith("#")]
    assert "".join(plain).count("layer_setting_info") == code.count("layer_setting_info")
    assert guarded.count("#ifdef VK_EXT_layer_settings\n") == guarded.count("#endif\n") == 2
    assert guarded.index("#else") > guarded.index("layer_setting_info(settings)")
