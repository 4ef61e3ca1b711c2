"""The language model in float64: loss and gradients of one micro-batch, from the formulas.

Every Linear multiplies operands that `casts` hands it (see quantise.py); all else is float64 throughout. Parameters and
gradients are dictionaries by the engine's names; matrices of Linears are [out][in].
"""
import numpy as np

SQRT_2_OVER_PI = np.sqrt(2 / np.pi)


class Linear:
    """y = x·Wᵀ + b, with operands as cast; the bias and its gradient are not cast."""

    def __init__(self, name, casts, parameters, weight=None):
        self.name = name
        self.casts = casts
        self.parameters = parameters
        self.weight_name = weight or name + ".weight"

    def forward(self, x):
        self.x = self.casts.cast(self.name, "input", x)
        self.w = self.casts.cast(self.name, "weight", self.parameters[self.weight_name])
        y = self.x.columns @ self.w.columns.T
        bias = self.parameters.get(self.name + ".bias")
        return y if bias is None else y + bias

    def backward(self, dy, gradients):
        g = self.casts.cast(self.name, "grad_output", dy)
        gradients[self.weight_name] = gradients.get(self.weight_name, 0) + g.rows.T @ self.x.rows
        if self.name + ".bias" in self.parameters:
            gradients[self.name + ".bias"] = dy.sum(axis=0)
        return g.columns @ self.w.rows


class Norm:
    """LayerNorm: (x − mean)/√(variance + ε)·γ + β. RMSNorm: x/√(mean x² + ε)·γ."""

    def __init__(self, name, kind, epsilon, parameters):
        self.name = name
        self.centred = kind == "layernorm"
        self.epsilon = epsilon
        self.parameters = parameters

    def forward(self, x):
        if self.centred:
            x = x - x.mean(axis=-1, keepdims=True)
        self.inverse = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + self.epsilon)
        self.normal = x * self.inverse
        return self.normal * self.parameters[self.name + ".weight"] + self.parameters.get(self.name + ".bias", 0.0)

    def backward(self, dy, gradients):
        gradients[self.name + ".weight"] = (dy * self.normal).sum(axis=0)
        if self.name + ".bias" in self.parameters:
            gradients[self.name + ".bias"] = dy.sum(axis=0)
        g = dy * self.parameters[self.name + ".weight"]
        dx = g - self.normal * (g * self.normal).mean(axis=-1, keepdims=True)
        if self.centred:
            dx = dx - g.mean(axis=-1, keepdims=True)
        return dx * self.inverse


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    """Value and slope of the tanh form: 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))."""
    t = np.tanh(SQRT_2_OVER_PI * (x + 0.044715 * x**3))
    slope = 0.5 * (1 + t) + 0.5 * x * (1 - t**2) * SQRT_2_OVER_PI * (1 + 3 * 0.044715 * x**2)
    return 0.5 * x * (1 + t), slope


def relu(x):
    return np.maximum(x, 0), (x > 0).astype(float)


def silu(x):
    s = sigmoid(x)
    return x * s, s + x * s * (1 - s)


class Activation:
    """Gated kinds take act(first half) · second half."""

    KINDS = {"gelu": (gelu, False), "relu": (relu, False), "geglu": (gelu, True), "swiglu": (silu, True)}

    def __init__(self, kind):
        self.function, self.gated = self.KINDS[kind]

    def forward(self, x):
        x, self.gate = np.split(x, 2, axis=-1) if self.gated else (x, None)
        self.value, self.slope = self.function(x)
        return self.value * self.gate if self.gated else self.value

    def backward(self, dy):
        if self.gated:
            return np.concatenate([dy * self.gate * self.slope, dy * self.value], axis=-1)
        return dy * self.slope


class Rotary:
    """Turns elements i and i + h/2 of a head of size h by position · θ^(−2i/h)."""

    def __init__(self, seq_len, head_dim, theta):
        frequency = theta ** (-2 * np.arange(head_dim // 2) / head_dim)
        angle = np.arange(seq_len)[:, None] * frequency
        self.cosine, self.sine = np.cos(angle), np.sin(angle)

    def turn(self, x, back=False):
        """x [...][seq_len][head_dim]"""
        sine = -self.sine if back else self.sine
        low, high = np.split(x, 2, axis=-1)
        return np.concatenate([low * self.cosine - high * sine, high * self.cosine + low * sine], axis=-1)


class Attention:
    """Causal; each of the `groups` of keys and values serves heads / groups heads in a row."""

    def __init__(self, model, rotary):
        self.seq_len = model["seq_len"]
        self.heads = model["heads"]
        self.groups = model["kv_heads"] or self.heads
        self.head_dim = model["d_model"] // self.heads
        self.rotary = rotary

    def split(self, packed):
        """[N][Q] → q, k, v, each [batch][heads or groups][seq_len][head_dim]."""
        packed = packed.reshape(-1, self.seq_len, self.heads + 2 * self.groups, self.head_dim).transpose(0, 2, 1, 3)
        return np.split(packed, [self.heads, self.heads + self.groups], axis=1)

    def join(self, parts):
        whole = np.concatenate(parts, axis=1).transpose(0, 2, 1, 3)
        return whole.reshape(-1, whole.shape[2] * whole.shape[3])

    def for_heads(self, x):
        return np.repeat(x, self.heads // self.groups, axis=1)

    def for_groups(self, dx):
        return dx.reshape(dx.shape[0], self.groups, -1, *dx.shape[2:]).sum(axis=2)

    def forward(self, packed):
        q, k, v = self.split(packed)
        if self.rotary:
            q, k = self.rotary.turn(q), self.rotary.turn(k)
        self.q, self.k, self.v = q, self.for_heads(k), self.for_heads(v)
        scores = self.q @ self.k.swapaxes(-1, -2) / np.sqrt(self.head_dim)
        scores = np.where(np.tri(self.seq_len, dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        self.weights = weights / weights.sum(axis=-1, keepdims=True)
        return self.join([self.weights @ self.v])

    def backward(self, dy):
        dy = dy.reshape(-1, self.seq_len, self.heads, self.head_dim).transpose(0, 2, 1, 3)
        dv = self.weights.swapaxes(-1, -2) @ dy
        dweights = dy @ self.v.swapaxes(-1, -2)
        dscores = self.weights * (dweights - (dweights * self.weights).sum(axis=-1, keepdims=True))
        dscores = dscores / np.sqrt(self.head_dim)
        dq, dk = dscores @ self.k, dscores.swapaxes(-1, -2) @ self.q
        dk, dv = self.for_groups(dk), self.for_groups(dv)
        if self.rotary:
            dq, dk = self.rotary.turn(dq, back=True), self.rotary.turn(dk, back=True)
        return self.join([dq, dk, dv])


class Layer:
    """x + proj(attention(qkv(norm x))), then x + fc2(act(fc1(norm x)))."""

    def __init__(self, index, model, casts, parameters, rotary):
        name = f"layer.{index}"
        self.ln1 = Norm(name + ".ln1", model["norm"], model["norm_epsilon"], parameters)
        self.qkv = Linear(name + ".attn.qkv", casts, parameters)
        self.attention = Attention(model, rotary)
        self.proj = Linear(name + ".attn.proj", casts, parameters)
        self.ln2 = Norm(name + ".ln2", model["norm"], model["norm_epsilon"], parameters)
        self.fc1 = Linear(name + ".mlp.fc1", casts, parameters)
        self.activation = Activation(model["activation"])
        self.fc2 = Linear(name + ".mlp.fc2", casts, parameters)

    def forward(self, x):
        x = x + self.proj.forward(self.attention.forward(self.qkv.forward(self.ln1.forward(x))))
        return x + self.fc2.forward(self.activation.forward(self.fc1.forward(self.ln2.forward(x))))

    def backward(self, dx, gradients):
        inner = self.activation.backward(self.fc2.backward(dx, gradients))
        dx = dx + self.ln2.backward(self.fc1.backward(inner, gradients), gradients)
        inner = self.attention.backward(self.proj.backward(dx, gradients))
        return dx + self.ln1.backward(self.qkv.backward(inner, gradients), gradients)


class Model:
    def __init__(self, model, casts, parameters):
        self.parameters = parameters
        self.seq_len = model["seq_len"]
        rotary = None
        if model["positions"] == "rotary":
            rotary = Rotary(self.seq_len, model["d_model"] // model["heads"], model["rope_theta"])
        self.layers = [Layer(i, model, casts, parameters, rotary) for i in range(model["layers"])]
        self.norm = Norm("final_norm", model["norm"], model["norm_epsilon"], parameters)
        tied = "token_embedding.weight" if model["tied_head"] else None
        self.head = Linear("lm_head", casts, parameters, tied)

    def linears(self):
        """In the order of the forward pass."""
        for layer in self.layers:
            yield from (layer.qkv, layer.proj, layer.fc1, layer.fc2)
        yield self.head

    def forward(self, inputs):
        """Logits [N][vocab] of whole sequences, one after the other."""
        x = self.parameters["token_embedding.weight"][inputs]
        positions = self.parameters.get("position_embedding.weight")
        if positions is not None:
            x = x + positions[np.arange(inputs.size) % self.seq_len]
        for layer in self.layers:
            x = layer.forward(x)
        return self.head.forward(self.norm.forward(x))

    def loss_and_gradients(self, inputs, targets, share):
        """Mean negative log likelihood, and the gradients of `share` times it."""
        logits = self.forward(inputs)
        logits = logits - logits.max(axis=-1, keepdims=True)
        log_likelihood = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        rows = np.arange(inputs.size)
        loss = -log_likelihood[rows, targets].mean()

        gradients = {}
        dlogits = np.exp(log_likelihood)
        dlogits[rows, targets] -= 1
        dx = self.head.backward(dlogits * (share / inputs.size), gradients)
        dx = self.norm.backward(dx, gradients)
        for layer in reversed(self.layers):
            dx = layer.backward(dx, gradients)
        embedding = np.zeros_like(self.parameters["token_embedding.weight"])
        np.add.at(embedding, inputs, dx)
        gradients["token_embedding.weight"] = gradients.get("token_embedding.weight", 0) + embedding
        if "position_embedding.weight" in self.parameters:
            gradients["position_embedding.weight"] = dx.reshape(-1, self.seq_len, dx.shape[1]).sum(axis=0)
        return loss, gradients
