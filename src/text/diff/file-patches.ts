/** The lines of a patch that are about one file. */
export interface FilePatch {
  /** The lines before the hunks, without the first one, which names the file. */
  readonly header: readonly string[];
  readonly hunks: readonly string[];
}

/**
 * Splits the lines of a patch of git into its files, in their order. Each line of a change has a sign, so none can look like the
 * first line of a file. The carriage returns of a file are left out if each of its lines ends in one.
 */
export function filePatches(lines: readonly string[]): FilePatch[] {
  const found: { header: string[]; hunks: string[] }[] = [];
  let first = "";
  let isHeader = true;
  for (const line of lines) {
    if (line.startsWith("diff --git ")) {
      // A file that became a link, or the reverse, has two parts: git deletes the one and adds the other.
      if (line !== first) found.push({ header: [], hunks: [] });
      first = line;
      isHeader = true;
      continue;
    }
    if (line.startsWith("@@ ")) isHeader = false;
    const file = found.at(-1);
    (isHeader ? file?.header : file?.hunks)?.push(line);
  }
  return found.map(({ header, hunks }) => ({ header, hunks: withoutReturns(hunks) }));
}

function withoutReturns(hunks: readonly string[]): readonly string[] {
  const isReturned = hunks.every((line, i) => {
    const hasEnd = /^[-+ ]/.test(line) && hunks[i + 1]?.startsWith("\\") !== true;
    return !hasEnd || line.endsWith("\r");
  });
  return isReturned ? hunks.map((line) => line.replace(/\r$/, "")) : hunks;
}
