# SPDX-License-Identifier: MIT
# Completion of roadvision for bash: commands, and the options that each --help lists.
_roadvision() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]:-}
  local commands='see record replay calibrate batch check bench'
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$word")
  elif [[ $word == -* && " $commands " == *" $command "* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" "$command" --help 2>/dev/null |
      grep -oE -- '(^|[[:space:],[])--?[a-z][a-z-]*' | tr -d ' ,[' | sort -u)" -- "$word")
  else
    case ${COMP_WORDS[COMP_CWORD - 1]} in
      --show) mapfile -t COMPREPLY < <(compgen -W 'disparity legend stixels segments road lines obstacles space lanes bird' -- "$word") ;;
      --what) mapfile -t COMPREPLY < <(compgen -W 'disparity depth stixels road obstacles lanes json video' -- "$word") ;;
      --encoder) mapfile -t COMPREPLY < <(compgen -W 'nvh264enc x264enc openh264enc' -- "$word") ;;
      *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
  fi
}
complete -o filenames -F _roadvision roadvision
