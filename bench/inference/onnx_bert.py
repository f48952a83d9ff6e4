#!/usr/bin/python3
"""A BERT with random weights as ONNX: the encoder and the pooler, for a batch of one shape.

bench/inference/onnx_bert.py --layers 12 --hidden 768 --heads 12 --shape 1x128 [--int8] OUT.onnx
The graph is what ONNX Runtime's own optimizer makes of an exported BERT: Attention, SkipLayerNormalization and BiasGelu.
In int8, as by dynamic quantisation, every product of the encoder quantises its input as it comes (DynamicQuantizeLinear)
and multiplies integers with weights that have a scale for each output.
"""
import argparse
import pathlib

import numpy

from onnx_file import FLOAT, INT32, MICROSOFT, Graph

VOCABULARY, POSITIONS, EPSILON = 30528, 512, 1e-12


class Bert:
    def __init__(self, args):
        self.graph = Graph()
        self.hidden, self.heads, self.layers, self.int8 = args.hidden, args.heads, args.layers, args.int8
        self.batch, self.length = args.shape
        self.random = numpy.random.default_rng(1)

    def weight(self, rows, columns):
        return (0.02 * self.random.standard_normal((rows, columns), dtype=numpy.float32))

    def vector(self, count, value=0.0):
        return self.graph.constant(numpy.full(count, value, dtype=numpy.float32))

    def quantised(self, weight):
        """The names of integers [in, out], their scales [out] and zero points."""
        scales = numpy.abs(weight).max(axis=0) / 127
        integers = numpy.clip(numpy.rint(weight / scales), -127, 127).astype(numpy.int8)
        return [self.graph.constant(array)
                for array in (integers, scales.astype(numpy.float32), numpy.zeros(len(scales), dtype=numpy.int8))]

    def product(self, x, inputs, outputs):
        """x w, without the bias, which the next node adds."""
        weight = self.weight(inputs, outputs)
        if not self.int8:
            return self.graph.node("MatMul", [x, self.graph.constant(weight)])
        integers, scales, zeros = self.quantised(weight)
        x_integers, x_scale, x_zero = self.graph.node("DynamicQuantizeLinear", [x], 3)
        sums = self.graph.node("MatMulInteger", [x_integers, integers, x_zero, zeros])
        scale = self.graph.node("Mul", [x_scale, scales])
        return self.graph.node("Mul", [self.graph.node("Cast", [sums], to=FLOAT), scale])

    def attention(self, x):
        weight, bias = self.weight(self.hidden, 3 * self.hidden), self.vector(3 * self.hidden)
        if not self.int8:
            return self.graph.node("Attention", [x, self.graph.constant(weight), bias], domain=MICROSOFT,
                                   num_heads=self.heads)
        integers, scales, zeros = self.quantised(weight)
        x_integers, x_scale, x_zero = self.graph.node("DynamicQuantizeLinear", [x], 3)
        return self.graph.node("QAttention", [x_integers, integers, bias, x_scale, scales, "", x_zero, zeros],
                               domain=MICROSOFT, num_heads=self.heads)

    def norm(self, x, residual):
        """Of x + its bias + residual."""
        inputs = [x, residual, self.vector(self.hidden, 1.0), self.vector(self.hidden), self.vector(self.hidden)]
        return self.graph.node("SkipLayerNormalization", inputs, domain=MICROSOFT, epsilon=EPSILON)

    def embeddings(self, ids):
        words = self.graph.node("Gather", [self.graph.constant(self.weight(VOCABULARY, self.hidden)), ids])
        places = self.graph.constant(self.weight(self.length, self.hidden))
        total = self.graph.node("Add", [words, places])
        return self.graph.node("LayerNormalization", [total, self.vector(self.hidden, 1.0), self.vector(self.hidden)],
                               epsilon=EPSILON)

    def layer(self, x):
        hidden = self.hidden
        x = self.norm(self.product(self.attention(x), hidden, hidden), x)
        inner = self.graph.node("BiasGelu", [self.product(x, hidden, 4 * hidden), self.vector(4 * hidden)],
                                domain=MICROSOFT)
        return self.norm(self.product(inner, 4 * hidden, hidden), x)

    def pooled(self, x):
        first = self.graph.node("Gather", [x, self.graph.constant(numpy.array(0, dtype=numpy.int64))], axis=1)
        weight = self.graph.constant(self.weight(self.hidden, self.hidden))
        return self.graph.node("Tanh", [self.graph.node("Gemm", [first, weight, self.vector(self.hidden)])])

    def write(self, path):
        x = self.embeddings("ids")
        for _ in range(self.layers):
            x = self.layer(x)
        self.graph.write(path, [("ids", INT32, (self.batch, self.length))],
                         [(x, FLOAT, (self.batch, self.length, self.hidden)),
                          (self.pooled(x), FLOAT, (self.batch, self.hidden))])


def shape(text):
    return tuple(int(part) for part in text.split("x"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("layers", "hidden", "heads"):
        parser.add_argument("--" + name, type=int, required=True)
    parser.add_argument("--shape", type=shape, default=(1, 128))
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("out", type=pathlib.Path)
    args = parser.parse_args()
    Bert(args).write(args.out)


main()
