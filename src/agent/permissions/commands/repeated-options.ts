/** Letters and names of one option: a rule that names one of them means the other too. */
const ALIASES: readonly (readonly string[])[] = [
  ["-C", "--directory", "--cd", "--chdir", "--prefix", "--cwd", "--dir"],
  ["-o", "--output", "--out", "--outfile", "--out-dir", "--outdir", "-O", "--output-document"],
  ["-f", "-F", "--file", "--filename"],
  ["-d", "--directory", "--target-directory", "-t"],
  ["-p", "--package", "--project"],
  ["-w", "--workspace", "--workdir"],
  ["-v", "--volume"],
  ["-e", "--rsh", "--env", "--expression"],
  ["-c", "--config", "--command"],
];

/**
 * Returns a word that repeats an option to which a rule gives a value, because the last one counts for most programs: the rule
 * `sort --output=a:*` does not cover `sort --output=a --output=b`.
 * @param named the words of the rule
 */
export function repeatedOption(named: readonly string[], words: readonly string[]): string | undefined {
  const given = named.flatMap((word, at) => {
    const next = named[at + 1];
    const option = /^-[\w-]+(?=$|=)/.exec(word)?.[0];
    const hasValue = word.includes("=") || (next !== undefined && !next.startsWith("-"));
    return option !== undefined && hasValue ? [option] : [];
  });
  if (given.length === 0) return undefined;
  const all = new Set(
    given.flatMap((option) => [option, ...ALIASES.filter((row) => row.includes(option)).flat()]),
  );
  const end = words.indexOf("--", named.length);
  return words.slice(named.length, end < 0 ? undefined : end).find((word) => {
    const [option = ""] = word.split("=", 1);
    if (!word.startsWith("-") || word === "-") return false;
    if (!word.startsWith("--"))
      return [...all].some((one) => (/^-\w$/.test(one) ? word.startsWith(one) : option === one));
    // Programs accept any unique prefix of a long option.
    return [...all].some((one) => one.startsWith(option));
  });
}
