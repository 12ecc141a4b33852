"""Writes a small llama with random weights, always the same ones, as a GGUF file. Usage: tiny_llama.py FILE"""

import sys

import gguf
import numpy

EMBEDDING, HEADS, SHARED_HEADS, FEED_FORWARD, BLOCKS, BYTES = 256, 4, 2, 512, 2, 256
SPECIAL = ["<unk>", "<s>", "</s>"]
UNKNOWN, CONTROL, BYTE = 2, 3, 6

random = numpy.random.default_rng(7)
file = gguf.GGUFWriter(sys.argv[1], "llama")
tokens = len(SPECIAL) + BYTES
file.add_context_length(256)
file.add_embedding_length(EMBEDDING)
file.add_block_count(BLOCKS)
file.add_feed_forward_length(FEED_FORWARD)
file.add_head_count(HEADS)
file.add_head_count_kv(SHARED_HEADS)
file.add_layer_norm_rms_eps(1e-5)
file.add_rope_dimension_count(EMBEDDING // HEADS)
file.add_vocab_size(tokens)
file.add_file_type(0)
file.add_tokenizer_model("llama")
file.add_token_list(SPECIAL + [f"<0x{byte:02X}>" for byte in range(BYTES)])
file.add_token_scores([0.0] * tokens)
file.add_token_types([UNKNOWN, CONTROL, CONTROL] + [BYTE] * BYTES)
file.add_unk_token_id(0)
file.add_bos_token_id(1)
file.add_eos_token_id(2)


def matrix(name, rows, columns, deviation=None):
    """Adds a matrix whose products keep about the size of their vectors."""
    values = random.standard_normal((rows, columns)) * (deviation or 1.5 / columns**0.5)
    file.add_tensor(name + ".weight", values.astype(numpy.float32))


def norm(name):
    """Adds the factors of a normalization, near one."""
    file.add_tensor(name + ".weight", (1 + 0.1 * random.standard_normal(EMBEDDING)).astype(numpy.float32))


matrix("token_embd", tokens, EMBEDDING, 1.0)
norm("output_norm")
matrix("output", tokens, EMBEDDING)
for index in range(BLOCKS):
    block = f"blk.{index}."
    norm(block + "attn_norm")
    norm(block + "ffn_norm")
    matrix(block + "attn_q", EMBEDDING, EMBEDDING)
    matrix(block + "attn_k", EMBEDDING * SHARED_HEADS // HEADS, EMBEDDING)
    matrix(block + "attn_v", EMBEDDING * SHARED_HEADS // HEADS, EMBEDDING)
    matrix(block + "attn_output", EMBEDDING, EMBEDDING)
    matrix(block + "ffn_gate", FEED_FORWARD, EMBEDDING)
    matrix(block + "ffn_up", FEED_FORWARD, EMBEDDING)
    matrix(block + "ffn_down", EMBEDDING, FEED_FORWARD)
file.write_header_to_file()
file.write_kv_data_to_file()
file.write_tensors_to_file()
file.close()
