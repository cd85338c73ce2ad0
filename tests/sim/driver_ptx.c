/*
 * Reads PTX text as far as the simulator needs it, so that a test in plain C can bring its kernels
 * as a string:
 *
 *	.version 8.0
 *	.target sm_70
 *	.address_size 64
 *	.global .align 4 .u32 counter;
 *	.visible .entry add(.param .u64 p, .param .align 8 .b8 s[24]) { ret; }
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

struct text {
	const char *at, *end;
};

struct token {
	const char *at;
	size_t length; /* 0: the end */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '%';
}

static struct token next(struct text *text)
{
	struct token token;

	for (;;) {
		while (text->at < text->end && isspace((unsigned char)*text->at))
			text->at++;
		if (text->end - text->at < 2 || text->at[0] != '/' || text->at[1] != '/')
			break;
		while (text->at < text->end && *text->at != '\n')
			text->at++;
	}
	token.at = text->at;
	while (text->at < text->end && is_word(*text->at))
		text->at++;
	if (text->at == token.at && text->at < text->end)
		text->at++;
	token.length = (size_t)(text->at - token.at);
	return token;
}

static bool is(struct token token, const char *word)
{
	return token.length == strlen(word) && memcmp(token.at, word, token.length) == 0;
}

/* ".u64" is 8; 0: not a type. */
static size_t type_bytes(struct token token)
{
	size_t bits;

	if (token.length < 3 || !strchr("busf", token.at[1]) ||
	    !isdigit((unsigned char)token.at[2]))
		return 0;
	bits = strtoul(token.at + 2, NULL, 10);
	return bits <= 128 ? bits / 8 : 0;
}

struct declaration {
	struct token name, stop;
	size_t bytes, align;
};

/* From behind .param, .global or .const up to the ',', ')', ';' or '='. */
static struct declaration declaration(struct text *text)
{
	struct declaration declared = { .align = 0 };
	struct token token;

	for (token = next(text); token.length; token = next(text)) {
		if (is(token, ",") || is(token, ")") || is(token, ";") || is(token, "=") ||
		    is(token, "{"))
			break;
		if (is(token, ".align"))
			declared.align = strtoul(next(text).at, NULL, 10);
		else if (type_bytes(token))
			declared.bytes = type_bytes(token);
		else if (is(token, "["))
			declared.bytes *= strtoul(text->at, NULL, 10);
		else if (*token.at != '.' && *token.at != ']' && !isdigit((unsigned char)*token.at))
			declared.name = token;
	}
	if (!declared.align)
		declared.align = declared.bytes ? declared.bytes : 1;
	declared.stop = token;
	return declared;
}

static bool read_entry(struct sim_image *image, struct text *text)
{
	struct token name = next(text), token;
	struct sim_entry *entry = sim_image_entry(image, name.at, name.length);
	unsigned int index = 0;
	size_t offset = 0;

	if (!entry)
		return false;
	entry->known = true;
	token = next(text);
	if (!is(token, "("))
		return true;
	while ((token = next(text)).length && !is(token, ")")) {
		struct declaration param;

		if (!is(token, ".param"))
			continue;
		param = declaration(text);
		offset = sim_round(offset, param.align);
		if (!sim_image_param(entry, index++, (uint32_t)offset, (uint32_t)param.bytes))
			return false;
		offset += param.bytes;
		if (is(param.stop, ")"))
			break;
	}
	return true;
}

/* Bodies hold nothing for us, but registers and labels that look like declarations. */
static void skip_body(struct text *text)
{
	int depth = 1;
	struct token token;

	while (depth && (token = next(text)).length)
		depth += is(token, "{") - is(token, "}");
}

bool sim_ptx_parse(struct sim_image *image, const char *ptx, size_t bytes)
{
	struct text text = { ptx, ptx + strnlen(ptx, bytes) };
	bool is_ptx = false;
	struct token token;

	while ((token = next(&text)).length) {
		if (is(token, ".version"))
			is_ptx = true;
		if (!is_ptx)
			return false;
		if (is(token, "{"))
			skip_body(&text);
		if (is(token, ".entry") && !read_entry(image, &text))
			return false;
		if (is(token, ".global") || is(token, ".const")) {
			struct declaration variable = declaration(&text);

			if (variable.name.length && variable.bytes &&
			    !sim_image_variable(image, variable.name.at, variable.name.length,
						variable.bytes))
				return false;
			while (variable.stop.length && !is(variable.stop, ";"))
				variable.stop = next(&text);
		}
	}
	return is_ptx;
}
