import fs from "node:fs";
import path from "node:path";

/**
 * Returns the licences of all packages whose modules are in a bundle, as one text.
 * @param {readonly string[]} modules ids of the bundled modules
 */
export function licencesOf(modules) {
  const directories = [...new Set(modules.flatMap((id) => packageOf(id) ?? []))];
  const parts = directories
    .map((directory) => {
      const { name, version, license, author } = JSON.parse(
        fs.readFileSync(path.join(directory, "package.json"), "utf8"),
      );
      return { title: `${name} ${version} (${license})`, text: licenceIn(directory) ?? holderOf(author) };
    })
    .sort((a, b) => (a.title < b.title ? -1 : 1));
  const sections = parts.map(({ title, text }) => `${title}\n\n${text.trim()}\n`);
  return `The files in this directory contain code from these packages.\n\n${sections.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** Returns the directory of the package of a module; undefined for our own modules. */
function packageOf(id) {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/.exec(id.replace(/^\0/, ""))?.[0];
}

function licenceIn(directory) {
  const names = fs.readdirSync(directory).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name));
  return names.length === 0
    ? undefined
    : names.map((name) => fs.readFileSync(path.join(directory, name), "utf8").trim()).join("\n\n");
}

function holderOf(author) {
  const holder = typeof author === "object" ? author?.name : author;
  return `The package does not contain the text of its licence.${holder ? ` Its author: ${holder}.` : ""}`;
}
