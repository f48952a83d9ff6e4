// The filters of the board. Each choice is in the address, so that a claim is a link.
import type { BoardChoice } from "../model/board_filter";
import { pushParams } from "../state/router";
import { SelectLine } from "../ui/select_line";
import { Button } from "../ui/button";

interface Properties {
  choices: readonly BoardChoice[];
  isFiltered: boolean;
}

const none = { model: null, task: null, device: null, devices: null };

/** "9–64" for "9-64", "513 and more" for "513-". */
const optionText = (name: string, option: string) =>
  name === "devices" ? option.replace(/-$/, " and more").replace("-", "–") : option;

export function BoardFilters({ choices, isFiltered }: Properties) {
  if (choices.length === 0) return null;
  return (
    <div class="chart-toolbar" role="group" aria-label="Filters">
      {choices.map(({ name, title, value, options }) => (
        <SelectLine
          key={name}
          title={title}
          value={value}
          options={[["", "any"], ...options.map((option) => [option, optionText(name, option)] as const)]}
          onChange={(chosen) => pushParams({ [name]: chosen, benchmark: null })}
        />
      ))}
      {isFiltered && (
        <Button small onPress={() => pushParams(none)}>
          Show all
        </Button>
      )}
    </div>
  );
}
