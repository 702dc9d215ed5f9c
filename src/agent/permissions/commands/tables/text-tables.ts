import type { Table } from "./table.ts";

const DIGITS = /^[\d.,]*$/;

const AWK: Table = {
  source:
    "gawk 5.2, mawk 1.3.4, the one true awk: the code of -e and of the first operand is checked by itself",
  options:
    "bknMNOPrS|Fv||e|fiElW|dopDL field-separator= assign= source== posix re-interval bignum sandbox csv",
};
const SED: Table = {
  source: "GNU sed 4.9, the sed of macOS: -l takes a value only in the first",
  options: "nErsuz|||e|fl|i quiet silent regexp-extended null-data separate unbuffered expression== sandbox",
};
const VIM: Table = {
  source: "Vim 9.0, Neovim 0.9",
  options: "RnNbdoOpmMZ0123456789||||cSsuUwWiTr clean noplugin",
  never: /^\+(?!\d*$)/,
};

/** Programs that print, edit or show text. */
export const TEXT_TABLES: Readonly<Record<string, Table>> = {
  awk: AWK,
  sed: SED,
  vim: VIM,
  less: {
    source: "less 590: a string value ends at $, and more options follow it",
    options:
      "aABcCeEfFgGiIJKLmMnNqQrRsSuUVwWX~|pjx|||bhkoOtTDPyz chop-long-lines quit-if-one-screen RAW-CONTROL-CHARS no-init ignore-case IGNORE-CASE squeeze-blank-lines LINE-NUMBERS line-numbers",
    only: { "-p": /^[^$]*$/, "-j": DIGITS, "-x": DIGITS },
    never: /^\+(?!(?:[GFg]|\d+)$)/,
  },
  man: {
    source: "man-db 2.11, the man of macOS",
    options:
      "afkwWiIKu|es|||PHCBMmlLRE all whatis apropos where path sections= regex wildcard names-only ignore-case match-case global-apropos",
  },
  ps: {
    source:
      "procps 4.0: e without a dash shows variables, and a cluster with u or x is read a second time without one",
    options:
      "AaedfFjlLHTwMyZ|opuUGgtCqNs|| sort= forest cols= columns= width= rows= lines= pid= ppid= user= group= tty= format= headers no-headers no-heading deselect",
    only: {
      "-o": /^(?!.*env)/is,
      "--format": /^(?!.*env)/is,
      "-u": /^(?![axuwfjlhrTsve]+$)[\w-]+$/,
    },
    words: /^-auxw*$/,
    others: /^(?:[axuwfjlhrTsvmcS]+|[axuw]*o|\d+|(?!.*env)[\w%:.-]*[,=][\w%:.,=-]*)$/,
  },
};
