/** Splits tool names at commas and whitespace, except inside the parentheses of a rule: `Bash(git log:*),Read`. */
export function toolList(values: readonly string[] | undefined): string[] | undefined {
  return values?.flatMap(splitTools);
}

function splitTools(value: string): string[] {
  const tools = [""];
  let depth = 0;
  for (const char of value) {
    if (char === "(") depth += 1;
    if (char === ")") depth = Math.max(0, depth - 1);
    if (depth === 0 && /[\s,]/.test(char)) tools.push("");
    else tools.push(`${tools.pop() ?? ""}${char}`);
  }
  return tools.filter((tool) => tool !== "");
}

/** Other names by which models and users know a tool. */
const ALIASES: ReadonlyMap<string, string> = new Map([["Task", "Agent"]]);

/** Returns the own name of the tool that an alias means; any other name is returned unchanged. */
export function withoutAlias(name: string): string {
  return ALIASES.get(name) ?? name;
}

export function aliasesOf(tool: string): string[] {
  return [...ALIASES].flatMap(([alias, name]) => (name === tool ? [alias] : []));
}
