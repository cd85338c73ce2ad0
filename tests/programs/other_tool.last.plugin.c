/* The last in the row of other_tool.sh. */
/* links: none */
const char *other_word(void);

const char *other_word(void)
{
	return "last";
}
