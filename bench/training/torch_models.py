"""The peers' models: BERT (Devlin et al., 2018) and GPT-2 (Radford et al., 2019) as a careful user writes them for speed.

Queries, keys and values are one product, logits are made only where a token is predicted. Parity is tested elsewhere
(tests/worker/parity) with a plain reference; these are here to be fast.
"""
import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, POSITIONS = 30528, 512  # BERT's, the first one padded


class Attention(nn.Module):
    def __init__(self, hidden, heads, dropout):
        super().__init__()
        self.heads = heads
        self.query_key_value = nn.Linear(hidden, 3 * hidden)
        self.output = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        batch, length, hidden = x.shape
        split = self.query_key_value(x).view(batch, length, 3, self.heads, hidden // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-1, -2) * (hidden // self.heads) ** -0.5 + mask
        context = self.dropout(scores.softmax(-1)) @ value
        return self.output(context.transpose(1, 2).reshape(batch, length, hidden))


class FeedForward(nn.Module):
    def __init__(self, hidden, intermediate, approximate):
        super().__init__()
        self.approximate = approximate
        self.expand = nn.Linear(hidden, intermediate)
        self.contract = nn.Linear(intermediate, hidden)

    def forward(self, x):
        return self.contract(F.gelu(self.expand(x), approximate=self.approximate))


class BertLayer(nn.Module):
    def __init__(self, hidden, heads, intermediate, dropout):
        super().__init__()
        self.attention = Attention(hidden, heads, dropout)
        self.attention_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.feed_forward = FeedForward(hidden, intermediate, "none")
        self.output_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        x = self.attention_norm(x + self.dropout(self.attention(x, mask)))
        return self.output_norm(x + self.dropout(self.feed_forward(x)))


class Bert(nn.Module):
    def __init__(self, args):
        super().__init__()
        hidden = args.hidden
        self.word = nn.Embedding(args.vocab, hidden)
        self.position = nn.Embedding(args.positions, hidden)
        self.token_type = nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(args.dropout)
        self.layers = nn.ModuleList(
            BertLayer(hidden, args.heads, args.intermediate, args.dropout) for _ in range(args.layers))
        self.transform = nn.Linear(hidden, hidden)
        self.transform_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.decoder_bias = nn.Parameter(torch.zeros(args.vocab))
        self.pooler = nn.Linear(hidden, hidden)
        self.next_sentence = nn.Linear(hidden, 2)

    def forward(self, batch):
        x = self.word(batch["ids"]) + self.position.weight[:batch["ids"].shape[1]] + self.token_type(batch["types"])
        x = self.dropout(self.norm(x))
        mask = batch["mask"].to(x.dtype)
        for layer in self.layers:
            x = layer(x, mask)
        masked = x.reshape(-1, x.shape[-1])[batch["positions"]]
        # Under autocast this version's layer norm wants its input in f32, like its weights.
        masked = self.transform_norm(F.gelu(self.transform(masked)).to(self.transform_norm.weight.dtype))
        logits = F.linear(masked, self.word.weight, self.decoder_bias)
        pooled = torch.tanh(self.pooler(x[:, 0]))
        return (F.cross_entropy(logits.float(), batch["labels"])
                + F.cross_entropy(self.next_sentence(pooled).float(), batch["next_sentence"]))


class BertEncoder(nn.Module):
    """For inference: the hidden states and the pooled first token."""

    def __init__(self, args):
        super().__init__()
        hidden = args.hidden
        self.word = nn.Embedding(VOCABULARY, hidden)
        self.position = nn.Embedding(POSITIONS, hidden)
        self.token_type = nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden, eps=1e-12)
        self.layers = nn.ModuleList(
            BertLayer(hidden, args.heads, 4 * hidden, 0.0) for _ in range(args.layers))
        self.pooler = nn.Linear(hidden, hidden)

    def forward(self, ids, types, mask=None):
        x = self.norm(self.word(ids) + self.position.weight[:ids.shape[1]] + self.token_type(types))
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pooler(x[:, 0]))


class GptLayer(nn.Module):
    def __init__(self, hidden, heads, intermediate, dropout):
        super().__init__()
        self.attention_norm = nn.LayerNorm(hidden)
        self.attention = Attention(hidden, heads, dropout)
        self.feed_forward_norm = nn.LayerNorm(hidden)
        self.feed_forward = FeedForward(hidden, intermediate, "tanh")
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        x = x + self.dropout(self.attention(self.attention_norm(x.to(self.attention_norm.weight.dtype)), mask))
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))


class Gpt(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.word = nn.Embedding(args.vocab, args.hidden)
        self.position = nn.Embedding(args.positions, args.hidden)
        self.dropout = nn.Dropout(args.dropout)
        self.layers = nn.ModuleList(
            GptLayer(args.hidden, args.heads, args.intermediate, args.dropout) for _ in range(args.layers))
        self.norm = nn.LayerNorm(args.hidden)

    def forward(self, batch):
        x = self.dropout(self.word(batch["ids"]) + self.position.weight[:batch["ids"].shape[1]])
        mask = batch["mask"].to(x.dtype)
        for layer in self.layers:
            x = layer(x, mask)
        predicting = self.norm(x[:, :-1]).reshape(-1, x.shape[-1])
        return F.cross_entropy(F.linear(predicting, self.word.weight).float(), batch["labels"])


def bert_batch(args):
    tokens = args.batch * args.length
    stride = (args.length - 1) // args.masked
    positions = [s * args.length + 1 + stride * i for s in range(args.batch) for i in range(args.masked)]
    return {
        "ids": torch.randint(args.vocab, (args.batch, args.length)),
        "types": (torch.arange(tokens).view(args.batch, args.length) % args.length > args.length // 2).long(),
        "mask": torch.zeros(args.batch, 1, 1, args.length),
        "positions": torch.tensor(positions),
        "labels": torch.randint(args.vocab, (len(positions),)),
        "next_sentence": torch.randint(2, (args.batch,)),
    }


def gpt_batch(args):
    ids = torch.randint(args.vocab, (args.batch, args.length))
    future = torch.ones(args.length, args.length, dtype=torch.bool).triu(1)
    return {
        "ids": ids,
        "mask": torch.zeros(args.length, args.length).masked_fill(future, float("-inf")),
        "labels": ids[:, 1:].reshape(-1),
    }


FAMILIES = {"bert": (Bert, bert_batch), "gpt": (Gpt, gpt_batch)}
