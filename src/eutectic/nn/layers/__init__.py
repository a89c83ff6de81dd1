"""Layers and activations."""

from eutectic.nn.layers.activations import (
    CELU, ELU, GELU, GLU, HardShrink, Hardswish, HardTanh, LeakyReLU, LogSigmoid, LogSoftmax, Mish,
    PReLU, ReLU, ReLU2, ReLU6, SELU, Sigmoid, SiLU, Softmax, Softmin, Softplus, Softshrink,
    Softsign, Step, Tanh, celu, elu, gelu, gelu_approx, gelu_fast_approx, glu, hard_shrink,
    hard_tanh, hardswish, leaky_relu, log_sigmoid, log_softmax, mish, prelu, relu, relu2, relu6,
    selu, sigmoid, silu, softmax, softmin, softplus, softshrink, softsign, step, tanh)
from eutectic.nn.layers.base import Module
from eutectic.nn.layers.containers import Sequential
from eutectic.nn.layers.convolution import Conv1d, Conv2d, Conv3d
from eutectic.nn.layers.convolution_transpose import (
    ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
from eutectic.nn.layers.dropout import Dropout, Dropout2d, Dropout3d
from eutectic.nn.layers.embedding import Embedding
from eutectic.nn.layers.linear import Bilinear, Identity, Linear
from eutectic.nn.layers.normalization import (
    BatchNorm, GroupNorm, InstanceNorm, LayerNorm, RMSNorm)
from eutectic.nn.layers.pooling import (
    AvgPool1d, AvgPool2d, AvgPool3d, MaxPool1d, MaxPool2d, MaxPool3d)
from eutectic.nn.layers.positional_encoding import ALiBi, RoPE, SinusoidalPositionalEncoding
from eutectic.nn.layers.recurrent import GRU, LSTM, RNN
from eutectic.nn.layers.transformer import (
    MultiHeadAttention, Transformer, TransformerDecoder, TransformerDecoderLayer,
    TransformerEncoder, TransformerEncoderLayer)
from eutectic.nn.layers.upsample import Upsample

__all__ = [
    "Module", "Sequential",
    "Bilinear", "Identity", "Linear", "Embedding",
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
    "AvgPool1d", "AvgPool2d", "AvgPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "Upsample",
    "BatchNorm", "GroupNorm", "InstanceNorm", "LayerNorm", "RMSNorm",
    "Dropout", "Dropout2d", "Dropout3d",
    "ALiBi", "RoPE", "SinusoidalPositionalEncoding",
    "GRU", "LSTM", "RNN",
    "MultiHeadAttention", "Transformer", "TransformerDecoder", "TransformerDecoderLayer",
    "TransformerEncoder", "TransformerEncoderLayer",
    "CELU", "ELU", "GELU", "GLU", "HardShrink", "HardTanh", "Hardswish", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "Mish", "PReLU", "ReLU", "ReLU2", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax",
    "Softmin", "Softplus", "Softshrink", "Softsign", "Step", "Tanh",
    "celu", "elu", "gelu", "gelu_approx", "gelu_fast_approx", "glu", "hard_shrink", "hard_tanh",
    "hardswish", "leaky_relu", "log_sigmoid", "log_softmax", "mish", "prelu", "relu", "relu2",
    "relu6", "selu", "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink", "softsign",
    "step", "tanh"]
